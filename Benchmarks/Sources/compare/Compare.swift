import ArgumentParser
import Contenders
import Foundation

/// `compare`: how long contenders need for one item, as multiples of the floor.
@main
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures store, read and promote of small items, side by side in one run.",
        discussion: """
            Each round gives every contender an empty folder and has it store, read and promote all items, \
            one task, contenders taking turns per job and changing order from round to round. Reported is \
            the median over the rounds, in microseconds per item, with the least and the most.
            """)

    @Flag(help: "Few rounds and items: a smoke test of under two minutes.")
    var quick = false

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    @Option(help: "Measured rounds (default: 15, quick: 5).")
    var rounds: Int?

    @Option(help: "Items per round (default: 200, quick: 100).")
    var items: Int?

    @Option(help: "Work in a new folder inside this one instead of beside the program.")
    var directory: String?

    func validate() throws {
        guard rounds ?? 1 > 0, items ?? 1 > 0 else {
            throw ValidationError("--rounds and --items must be greater than zero.")
        }
    }

    func run() async throws {
        let workspace = try Workspace(in: directory)
        let comparisons: [Comparison]
        do {
            let runner = Runner(
                lineup: .standard(), rounds: rounds ?? (quick ? 5 : 15), workspace: workspace,
                progress: ProgressLine())
            comparisons = try await runner.compare(items: items ?? (quick ? 100 : 200))
        } catch {
            do {
                try workspace.remove()
            } catch let second {
                FileHandle.standardError.write(Data("the measuring folder stays: \(second)\n".utf8))
            }
            throw error
        }
        print(json ? try JSONReport(comparisons).text : TableReport(comparisons).text)
        try workspace.remove()
    }
}

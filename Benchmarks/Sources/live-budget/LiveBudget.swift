import ArgumentParser
import Contenders
import Foundation

/// `live-budget`: what it costs that the budget follows the volume.
@main
struct LiveBudget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live-budget",
        abstract: "Compares storing 16 KiB items under the live budget with storing them under none.",
        discussion: """
            Two empty caches take turns in storing the same texts, a few hundred at a time: one has the \
            automatic budget, the other a fixed one and a volume that is never asked. A round is long \
            enough for the volume to be looked at several times. Reported is the median over the rounds \
            of the ratio of both times, with its quartiles.
            """)

    @Flag(help: "Two short rounds: a smoke test.")
    var quick = false

    @Option(help: "Measured rounds (default: 15, quick: 2).")
    var rounds: Int?

    @Option(help: "Items per round and cache, a multiple of \(Race.turn) (default: 20000, quick: 1000).")
    var items: Int?

    @Option(help: "Work in a new folder inside this one instead of beside the program.")
    var directory: String?

    func validate() throws {
        guard rounds ?? 1 > 0 else { throw ValidationError("--rounds must be greater than zero.") }
        guard items ?? Race.turn > 0, (items ?? 0).isMultiple(of: Race.turn) else {
            throw ValidationError("--items must be a multiple of \(Race.turn), and greater than zero.")
        }
    }

    func run() async throws {
        try await Workspace.with(in: directory) { workspace in
            print(try await measure(in: workspace).text)
        }
    }

    private func measure(in workspace: Workspace) async throws -> Report {
        let race = Race(
            workload: Workload(
                text: try TextCorpus(), size: 16 << 10, count: items ?? (quick ? 1000 : 20000)),
            folder: try workspace.makeFolder())
        let progress = ProgressLine()
        var results: [Race.Result] = []
        let count = rounds ?? (quick ? 2 : 15)
        // The first round warms up.
        for round in 0...count {
            progress.show("round \(round) of \(count)")
            let result = try await race.run(round, emptying: workspace)
            if round > 0 { results.append(result) }
        }
        progress.clear()
        return Report(results, itemsPerRound: race.workload.contents.count)
    }
}

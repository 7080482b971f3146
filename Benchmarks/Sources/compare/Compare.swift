public import ArgumentParser
public import Contenders
import Foundation

/// `compare`: how long contenders need for one item, as multiples of the floor.
@main
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures PrefetchCache, its floor and its peers side by side in one run.",
        discussion: """
            Suite small: store, read, promote and evict items of 4, 16 and 64 KiB, with all peers that are \
            installed. Suite large: store one item of 256 MiB (quick: 32 MiB), and promote what does not compress. Suite tasks: \
            store, read and open items of 16 KiB by 1, 2 and 8 tasks at once. Suite day: bursts of items of 64 KiB \
            are stored, some read, a few opened, and the oldest evicted; and what is on the volume at its end.

            Each round gives every contender an empty folder, and contenders take turns per job, changing \
            order from round to round. Reported is the median over the rounds.
            """)

    @Option(parsing: .upToNextOption, help: "What to measure (default: everything).")
    var suite: [Suite] = []

    @Option(parsing: .upToNextOption, help: "Of the suite small, these jobs only (default: all).")
    var job: [Job] = []

    @Option(
        parsing: .upToNextOption, help: "Of the suite small, items of so many KiB only (default: 4 16 64).")
    var size: [Int] = []

    @Option(
        parsing: .upToNextOption, help: "Of the suites small and large, these contents only (default: all).")
    var content: [Material] = []

    @Flag(inversion: .prefixedNo, help: "Compare with other caches, too, in the suites small and day.")
    var peers = true

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Another contender of the suites small and day: a program that is asked line by line.",
            valueName: "command"))
    var contender: [String] = []

    @Flag(help: "Few rounds and items: a smoke test of under two minutes.")
    var quick = false

    @Option(help: "Measured rounds (default: 15, large and day: 7; quick: 2).")
    var rounds: Int?

    @Option(help: "Items per round (default: 200, quick: 40).")
    var items: Int?

    @Option(help: "Work in a new folder inside this one instead of beside the program.")
    var directory: String?

    func validate() throws {
        guard rounds ?? 1 > 0 else { throw ValidationError("--rounds must be greater than zero.") }
        guard items ?? 8 >= 8 else { throw ValidationError("--items must be at least 8, one for each task.") }
        guard size.allSatisfy({ (1...1024).contains($0) }) else {
            throw ValidationError("--size must be 1 to 1024, in KiB.")
        }
        guard contender.isEmpty || suite.isEmpty || suite.contains(.small) || suite.contains(.day) else {
            throw ValidationError("--contender concerns the suites small and day, which are not measured.")
        }
    }

    func run() async throws {
        let wanted = Self.chosen(suite)
        try await Workspace.with(in: directory) { workspace in
            let suites = try Suites(
                workspace: workspace, peers: peers(of: wanted), sizes: size.isEmpty ? [4, 16, 64] : size,
                jobs: Self.chosen(job), materials: Self.chosen(content), items: items ?? (quick ? 40 : 200),
                rounds: rounds, isQuick: quick)
            var results: [SuiteResult] = []
            for suite in wanted { results.append(try await suites.run(suite)) }
            print(results.map(\.table).joined(separator: "\n\n"))
        }
    }

    /// Those that were named, in the order in which they are shown; all when none was.
    private static func chosen<Choice: CaseIterable & Equatable>(_ named: [Choice]) -> [Choice] {
        Choice.allCases.filter { named.isEmpty || named.contains($0) }
    }

    private func peers(of suites: [Suite]) -> [Entry] {
        guard suites.contains(.small) || suites.contains(.day) else { return [] }
        let (all, missing) = peers ? Entry.peers() : ([], [])
        for peer in missing { FileHandle.standardError.write(Data("\(peer)\n".utf8)) }
        return all + contender.enumerated().map { .command($0 + 1, $1) }
    }
}

/// What is measured together and shown as one table.
enum Suite: String, CaseIterable, ExpressibleByArgument {
    /// Items of 4, 16 and 64 KiB, with all peers.
    case small
    /// One item of hundreds of mebibytes, with a command of the shell.
    case large
    /// Small items by several tasks at once.
    case tasks
    /// Bursts of stores, a few opens, and eviction, with all peers that can.
    case day
}

extension Job: ExpressibleByArgument {}
extension Material: ExpressibleByArgument {}

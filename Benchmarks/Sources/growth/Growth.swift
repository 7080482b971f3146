import ArgumentParser
import Contenders
import Foundation

/// `growth`: what becomes dearer when a cache holds more items.
@main
struct Growth: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "growth",
        abstract: "Measures how costs grow with the number of items.",
        discussion: """
            Fills one cache per number of items with small items. Then, in rounds that visit all of them, \
            every measurement is made by a process of its own, so that nothing is warm in it but what the \
            kernel has. Reported is the median over the rounds, with the least and the most, and the \
            median of the ratios to the smallest number, round by round.

            A million items take about 5 GiB of the volume, and some minutes.
            """,
        subcommands: [Probe.self])

    @Flag(help: "1000 and 10000 items: a smoke test of well under a minute.")
    var quick = false

    @Option(help: "Numbers of items, separated by commas (default: 1000,10000,100000,1000000).")
    var items: ItemCounts?

    @Option(help: "Measured rounds (default: 7, quick: 5).")
    var rounds: Int?

    @Option(help: "Work in a new folder inside this one instead of beside the program.")
    var directory: String?

    func validate() throws {
        guard rounds ?? 1 > 0 else { throw ValidationError("--rounds must be greater than zero.") }
    }

    func run() async throws {
        let counts =
            items?.counts ?? (quick ? [1000, 10_000] : [1000, 10_000, 100_000, 1_000_000])
        let rounds = rounds ?? (quick ? 5 : 7)
        try await Workspace.with(in: directory) { workspace in
            let rows = try await Series(rounds: rounds, workspace: workspace).measure(counts)
            // At once, and not when the process ends: removing a million files takes minutes.
            FileHandle.standardOutput.write(Data((Row.report(rows) + "\n").utf8))
        }
    }
}

/// How many items the caches are to hold, the smallest first.
struct ItemCounts: ExpressibleByArgument {
    let counts: [Int]

    init?(argument: String) {
        let counts = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        // Each round reads an item of its own.
        guard counts.allSatisfy({ $0 >= 100 }), Set(counts).count == counts.count else { return nil }
        self.counts = counts.sorted()
    }
}

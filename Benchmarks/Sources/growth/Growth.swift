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

            A million items take about 5 GiB of the volume, and some minutes. Exits with 64 for arguments \
            that cannot be used, and with 1 for everything else, such as a volume without room.
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
            try Self.demandSpace(for: counts, rounds: rounds, in: workspace)
            let rows = try await Series(rounds: rounds, workspace: workspace).measure(counts)
            // At once, and not when the process ends: removing a million files takes minutes.
            FileHandle.standardOutput.write(Data((Row.report(rows) + "\n").utf8))
        }
    }

    private static func demandSpace(for counts: [Int], rounds: Int, in workspace: Workspace) throws {
        let block: Int64 = 4096
        let small = counts.reduce(0) { $0 + Int64($1 + rounds * Probe.evictions) }
        // Once by the cache and once by the floor.
        let large = Int64(2 * counts.count * rounds * (Probe.warmUps + Probe.stores))
        // A block and an inode; and a row of the catalog, of which the journal may hold much again.
        let bytes = small * (block + 256 + 1024) + large * (Int64(Probe.storedSize) + block)
        // Near the end of a volume a cache takes nothing new, whatever its budget.
        try workspace.demand(bytes: bytes * 3 / 2, files: UInt64(small + large))
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

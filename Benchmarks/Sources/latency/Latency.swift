import ArgumentParser
import Contenders
import Foundation
import PrefetchCaching

/// `latency`: how long the slow ones take.
@main
struct Latency: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract:
            "Measures percentiles of reads, idle and while others store and evict, and of stores and opens.",
        discussion: """
            In every round the same 16 KiB texts are read for a while with nothing beside; while one task \
            stores under a budget that is used up and another evicts; while eight tasks store under that \
            budget; and while two threads compute, which tells how much of the difference is that of busy \
            cores. The order changes from round to round. Stores at the pace of a network go into a cache \
            that has room, and into one that is full.
            """)

    @Flag(help: "Three short rounds: a smoke test.")
    var quick = false

    @Option(help: "Measured rounds (default: 10, quick: 3).")
    var rounds: Int?

    @Option(help: "Seconds of reading per round and kind of company (default: 1.5, quick: 0.4).")
    var seconds: Double?

    @Option(help: "Work in a new folder inside this one instead of beside the program.")
    var directory: String?

    func validate() throws {
        guard rounds ?? 1 > 0, (seconds ?? 1).isFinite, seconds ?? 1 > 0 else {
            throw ValidationError("--rounds and --seconds must be greater than zero.")
        }
    }

    func run() async throws {
        try await Workspace.with(in: directory) { workspace in
            print(report(try await measure(in: workspace)))
        }
    }

    private func measure(in workspace: Workspace) async throws -> [Round] {
        let workload = Workload(of: try TextCorpus(), size: 16 << 10, count: Reading.items)
        return try await PrefetchCache.with(.container(at: workspace.makeFolder())) { small in
            try await PrefetchCache.with(.container(at: workspace.makeFolder())) { roomy in
                try await PrefetchCache.with(.container(at: workspace.makeFolder())) { full in
                    let reading = try await Reading(workload, in: small)
                    let storing = try await Storing(workload, roomy: roomy, full: full)
                    return try await measure(reading, storing, rounds: rounds ?? (quick ? 3 : 10))
                }
            }
        }
    }

    private func measure(_ reading: Reading, _ storing: Storing, rounds count: Int) async throws -> [Round] {
        let duration = Duration.seconds(seconds ?? (quick ? 0.4 : 1.5))
        var results: [Round] = []
        // The first round warms up.
        for number in 0...count {
            var round: Round = [:]
            for turn in Company.allCases.indices {
                let company = Company.allCases[(turn + number) % Company.allCases.count]
                try await reading.measure(beside: company, for: duration, &round)
            }
            try await storing.measure(number, for: duration, &round)
            if number > 0 { results.append(round) }
        }
        return results
    }
}

/// An item of this program. What is read has a higher priority than what is stored beside, so that it is never a victim.
func article(_ key: String, as name: String = "Article", priority: Float = 0) throws -> ItemMetadata {
    try ItemMetadata(
        key: ItemKey("https://example.org/\(key)"), source: "example.org",
        destination: .documents(FileName(name)), priority: priority)
}

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

    /// Items that one stores before it is the other's turn.
    private static let turn = 500

    @Flag(help: "Two short rounds: a smoke test.")
    var quick = false

    @Option(help: "Measured rounds (default: 15, quick: 2).")
    var rounds: Int?

    @Option(help: "Items per round and cache, a multiple of 500 (default: 20000, quick: 1000).")
    var items: Int?

    @Option(help: "Work in a new folder inside this one instead of beside the program.")
    var directory: String?

    func validate() throws {
        guard rounds ?? 1 > 0 else { throw ValidationError("--rounds must be greater than zero.") }
        guard items ?? Self.turn > 0, (items ?? 0).isMultiple(of: Self.turn) else {
            throw ValidationError("--items must be a multiple of \(Self.turn), and greater than zero.")
        }
    }

    func run() async throws {
        try await Workspace.with(in: directory) { workspace in
            print(try await measure(in: workspace))
        }
    }

    private func measure(in workspace: Workspace) async throws -> String {
        let workload = Workload(
            text: try TextCorpus(), size: 16 << 10, count: items ?? (quick ? 1000 : 20000))
        let progress = ProgressLine()
        defer { progress.clear() }
        let count = rounds ?? (quick ? 2 : 15)
        var (lives, nones): ([Double], [Double]) = ([], [])
        // The first round warms up.
        for round in 0...count {
            progress.show("round \(round) of \(count)")
            let times = try await race(workload, round, in: workspace)
            guard round > 0 else { continue }
            lives.append(times[0])
            nones.append(times[1])
        }
        let ratio = Figure(zip(lives, nones).map { $0 / $1 })
        return String(
            format: "16 KiB text: live budget %.1f µs, none %.1f µs per item; "
                + "live/none %.3f (quartiles %.3f–%.3f, %d rounds of %d items)",
            Figure(lives).median, Figure(nones).median, ratio.median, ratio.lowerQuartile,
            ratio.upperQuartile, count, workload.contents.count)
    }

    /// Turn by turn, so that a machine whose speed drifts hits both caches alike.
    ///
    /// - Returns: Microseconds per item, under the live budget and under none.
    private func race(_ workload: Workload, _ round: Int, in workspace: Workspace) async throws -> [Double] {
        let home = try workspace.makeFolder()
        var caches: [CacheContender] = []
        for (name, budget) in [("live", CacheContender.Budget.live), ("none", .none)] {
            caches.append(
                try await CacheContender(in: home.appending(path: name), for: workload, budget: budget))
        }
        var times = [0.0, 0.0]
        for (turn, start) in stride(from: 0, to: workload.contents.count, by: Self.turn).enumerated() {
            for index in (turn + round).isMultiple(of: 2) ? [0, 1] : [1, 0] {
                let cache = caches[index]
                let elapsed = try await withTaskExecutorPreference(cache.executor) {
                    try await cache.run(.store, for: start..<start + Self.turn, of: workload)
                }
                times[index] += elapsed / .microseconds(1)
            }
        }
        for cache in caches { try await cache.leave() }
        workspace.empty(home)
        return times.map { $0 / Double(workload.contents.count) }
    }
}

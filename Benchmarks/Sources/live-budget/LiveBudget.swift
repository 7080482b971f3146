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
        let entries = [CacheContender.Budget.live, .none].map { budget in
            Entry("\(budget)", "") { try await CacheContender(in: $0, for: $1, budget: budget) }
        }
        let race = Race(entries, rounds: rounds ?? (quick ? 2 : 15), in: workspace)
        let turns = try await race.samples(
            of: workload,
            stride(from: 0, to: workload.count, by: Self.turn).map { start in
                Race.Step("turn") {
                    try await $0.contender.run(.store, for: start..<start + Self.turn, of: workload)
                        / .microseconds(1) / Double(workload.count)
                }
            })
        let times = entries.indices.map { entry in
            (0..<race.rounds).map { round in turns.reduce(0) { $0 + $1[round][entry] } }
        }
        let ratio = Figure(zip(times[0], times[1]).map { $0 / $1 })
        return String(
            format: "16 KiB text: live budget %.1f µs, none %.1f µs per item; "
                + "live/none %.3f (quartiles %.3f–%.3f, %d rounds of %d items)",
            Figure(times[0]).median, Figure(times[1]).median, ratio.median, ratio.lowerQuartile,
            ratio.upperQuartile, race.rounds, workload.count)
    }
}

import Contenders
import Foundation

/// What came of all rounds, in microseconds.
struct Report {
    private static let target = 2.0
    private static let percentiles = [50, 90, 99, 99.9]

    let calls: [Percentiles]
    /// The 99th percentile of reads while eviction runs, to that of reads with nothing beside.
    let evictingToIdle: Ratio
    /// The same for reads while two threads compute.
    let computingToIdle: Ratio
    /// The same for reads while eight tasks store.
    let storingToIdle: Ratio
    /// The 99th percentile of stores that evict to that of stores for which there is room.
    let storeEvictingToStore: Ratio
    /// The same at the pace of a network.
    let storeTrimmingToPaced: Ratio
    /// While something was evicted beside, and how many items went for each that came.
    let evictionsPerStore: Double

    struct Percentiles {
        let call: String
        let count: UInt64
        let p50, p90, p99, p999, max: Double
        /// Shares of the calls, see ``Latencies``.
        let waited, preempted: Double

        init?(_ call: Call, _ rounds: [Round]) {
            var all = Latencies()
            for round in rounds { if let latencies = round.latencies[call] { all.add(latencies) } }
            guard all.count > 0 else { return nil }
            self.call = call.rawValue
            count = all.count
            let values = Report.percentiles.map { all.microseconds(atPercentile: $0) }
            (p50, p90, p99, p999) = (values[0], values[1], values[2], values[3])
            max = all.microsecondsAtMost
            waited = Double(all.waited) / Double(all.count)
            preempted = Double(all.preempted) / Double(all.count)
        }

        var cells: [String] {
            [call, String(count)] + [p50, p90, p99, p999, max].map { String(format: "%.1f", $0) }
                + [waited, preempted].map { String(format: "%.2f %%", $0 * 100) }
        }
    }

    /// Round by round, and of all rounds together.
    struct Ratio {
        let median, least, most, ofAll: Double

        init(_ call: Call, to idle: Call = .readIdle, _ rounds: [Round], _ calls: [Percentiles]) {
            let ratios = rounds.compactMap { round in
                round.latencies[call].flatMap { busy in
                    round.latencies[idle].map {
                        busy.microseconds(atPercentile: 99) / $0.microseconds(atPercentile: 99)
                    }
                }
            }
            let figure = Figure(ratios)
            (median, least, most) = (figure.median, figure.least, figure.most)
            let (busy, idle) = (
                calls.first { $0.call == call.rawValue }, calls.first { $0.call == idle.rawValue }
            )
            ofAll = (busy?.p99 ?? .nan) / (idle?.p99 ?? .nan)
        }

        var text: String {
            String(format: "%.2f (%.2f–%.2f; all rounds together %.2f)", median, least, most, ofAll)
        }
    }

    init(_ rounds: [Round]) {
        calls = Call.allCases.compactMap { Percentiles($0, rounds) }
        evictingToIdle = Ratio(.readEvicting, rounds, calls)
        computingToIdle = Ratio(.readComputing, rounds, calls)
        storingToIdle = Ratio(.readStoring, rounds, calls)
        storeEvictingToStore = Ratio(.storeEvicting, to: .store, rounds, calls)
        storeTrimmingToPaced = Ratio(.storeTrimming, to: .storePaced, rounds, calls)
        let (evictions, stores) = rounds.reduce((0, 0)) { ($0.0 + $1.evictions, $0.1 + $1.stores) }
        evictionsPerStore = Double(evictions) / Double(max(1, stores))
    }

    var text: String {
        let cells =
            [["16 KiB text, µs", "calls", "p50", "p90", "p99", "p99.9", "max", "waited", "preempted"]]
            + calls.map(\.cells)
        return
            ([textTable(cells, leading: 1)] + [
                "",
                String(format: "%.2f items were evicted for each that was stored beside", evictionsPerStore),
                "p99 while cores are busy ÷ p99: \(computingToIdle.text)",
                Self.verdict("p99 while eviction runs ÷ p99", evictingToIdle),
                Self.verdict("p99 while 8 tasks store ÷ p99", storingToIdle),
                Self.verdict("p99 of stores that evict ÷ p99 of stores", storeEvictingToStore),
                Self.verdict("the same at the pace of a network", storeTrimmingToPaced),
            ]).joined(separator: "\n")
    }

    private static func verdict(_ what: String, _ ratio: Ratio) -> String {
        "\(what) ≤ 2: \(ratio.median <= target ? "held" : "MISSED"), \(ratio.text)"
    }
}

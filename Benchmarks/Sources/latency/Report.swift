import Contenders
import Foundation

/// What came of all rounds, in microseconds.
struct Report {
    private let rounds: [Round]

    init(_ rounds: [Round]) { self.rounds = rounds }

    var text: String {
        let head = ["16 KiB text, µs", "calls", "p50", "p90", "p99", "p99.9", "max"]
        let (evictions, stores) = rounds.reduce((0, 0)) { ($0.0 + $1.evictions, $0.1 + $1.stores) }
        let evicted = String(
            format: "%.2f items were evicted for each that was stored beside",
            Double(evictions) / Double(max(1, stores)))
        let busy = ratio(.readComputing, to: .readIdle).map { "p99 while cores are busy ÷ p99: \($0.1)" }
        let targets: [(String, Call, to: Call)] = [
            ("p99 while eviction runs ÷ p99", .readEvicting, .readIdle),
            ("p99 while 8 tasks store ÷ p99", .readStoring, .readIdle),
            ("p99 of stores that evict ÷ p99 of stores", .storeEvicting, .store),
            ("the same at the pace of a network", .storeTrimming, .storePaced),
        ]
        return [
            textTable([head] + Call.allCases.compactMap(cells), leading: 1), "", evicted, busy ?? "",
            Target.table(
                targets.compactMap { name, call, other in
                    ratio(call, to: other).map { Target(name, $0.median, .atMost(2), note: $0.text) }
                }),
        ].joined(separator: "\n")
    }

    private func cells(_ call: Call) -> [String]? {
        guard let all = latencies(call) else { return nil }
        let times = [50, 90, 99, 99.9].map(all.microseconds(atPercentile:)) + [all.microsecondsAtMost]
        return [call.rawValue, String(all.count)] + times.map { String(format: "%.1f", $0) }
    }

    /// Of all rounds together.
    private func latencies(_ call: Call) -> Latencies? {
        var all = Latencies()
        for round in rounds { if let latencies = round.latencies[call] { all.add(latencies) } }
        return all.count > 0 ? all : nil
    }

    /// The 99th percentile of one call to that of another: the median of the rounds, the least and the most.
    private func ratio(_ call: Call, to other: Call) -> (median: Double, text: String)? {
        let ratios = rounds.compactMap { Self.ratio($0.latencies[call], to: $0.latencies[other]) }
        guard !ratios.isEmpty, let ofAll = Self.ratio(latencies(call), to: latencies(other)) else {
            return nil
        }
        let figure = Figure(ratios)
        return (
            figure.median,
            figure.text(digits: 2) + String(format: "; all rounds together %.2f", ofAll)
        )
    }

    private static func ratio(_ one: Latencies?, to other: Latencies?) -> Double? {
        guard let one, let other else { return nil }
        return one.microseconds(atPercentile: 99) / other.microseconds(atPercentile: 99)
    }
}

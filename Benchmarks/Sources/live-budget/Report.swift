import Contenders
import Foundation

/// What came of all rounds.
struct Report {
    let rounds: Int
    let itemsPerRound: Int
    /// Medians, in microseconds per item.
    let live: Double
    let none: Double
    /// `live` through `none`, round by round: the median, and the quartiles around it.
    let ratio: Double
    let ratioQuartiles: [Double]

    init(_ results: [Race.Result], itemsPerRound: Int) {
        rounds = results.count
        self.itemsPerRound = itemsPerRound
        live = Figure(results.map(\.live)).median
        none = Figure(results.map(\.none)).median
        let ratios = Figure(results.map { $0.live / $0.none })
        ratio = ratios.median
        ratioQuartiles = [ratios.lowerQuartile, ratios.upperQuartile]
    }

    var text: String {
        String(
            format: "16 KiB text: live budget %.1f µs, none %.1f µs per item; "
                + "live/none %.3f (quartiles %.3f–%.3f, %d rounds of %d items)",
            live, none, ratio, ratioQuartiles[0], ratioQuartiles[1], rounds, itemsPerRound)
    }
}

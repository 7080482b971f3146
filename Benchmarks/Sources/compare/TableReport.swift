import Contenders
import Foundation

/// Results as tables for people, with how the contenders were set up below each.
///
/// The floor's median is a time, or a number of bytes, per item; everybody's is a multiple of it. Behind each is its spread: half
/// the distance between the quartiles of the rounds, in per cent of the median.
struct TableReport {
    let text: String

    init(_ results: [SuiteResult]) {
        text = (results.map(Self.table) + Self.targets(Target.all(in: results))).joined(separator: "\n\n")
    }

    private static func targets(_ targets: [Target]) -> [String] {
        guard !targets.isEmpty else { return [] }
        let rows = targets.map { target in
            let bound =
                switch target.bound {
                case .atMost(let most): "≤ \(most)"
                case .atLeast(let least): "≥ \(least)"
                }
            return [
                target.name, target.isHeld ? "held" : "not held", String(format: "%.2f", target.figure),
                bound,
            ]
        }
        return [textTable([["target", "", "figure", "bound"]] + rows, leading: 2)]
    }

    private static func table(_ result: SuiteResult) -> String {
        let suite = result.suite
        var head = ["job", "content", "size"]
        if suite == .tasks { head.append("tasks") }
        head.append("floor")
        head += result.setups.dropFirst().map { shortened($0.name) }
        if suite == .tasks { head.append("ours, items/s") }
        let rows = result.comparisons.map { comparison in
            var row = [comparison.job, comparison.material.rawValue, byteCount(comparison.size)]
            if suite == .tasks { row.append("\(comparison.tasks)") }
            row.append("\(amount(comparison.floor.median, comparison.unit)) \(spread(comparison.floor))")
            for figure in [comparison.ours] + comparison.peers.map(\.figure) {
                row.append("\(multiple(figure.median / comparison.floor.median)) \(spread(figure))")
            }
            if suite == .tasks { row.append(String(format: "%.0f", 1e6 / comparison.ours.median)) }
            return row
        }
        let setups = result.setups.map { "\(shortened($0.name)): \($0.text)" }
        return ([textTable([head] + rows, leading: 2)] + ["", legend] + setups).joined(separator: "\n")
    }

    private static let legend =
        "Medians: time or space per item for the floor, multiples of it for all others. ±: half the interquartile range."

    /// A column's width is worth more than our full name.
    private static func shortened(_ name: String) -> String {
        name.replacing("PrefetchCache", with: "ours")
    }

    private static func byteCount(_ bytes: Int) -> String {
        bytes < 1 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
    }

    private static func amount(_ figure: Double, _ unit: Comparison.Unit) -> String {
        switch unit {
        case .bytes: String(format: "%.1f KiB", figure / 1024)
        case .microseconds where figure < 1000: String(format: "%.1f µs", figure)
        case .microseconds: String(format: "%.1f ms", figure / 1000)
        }
    }

    /// Two or three digits.
    private static func multiple(_ ratio: Double) -> String {
        let decimals = max(0, 2 - Int(log10(max(ratio, 1e-4)).rounded(.down)))
        return "×" + String(format: "%.\(ratio < 1 ? decimals - 1 : decimals)f", ratio)
    }

    private static func spread(_ figure: Figure) -> String {
        let half = (figure.upperQuartile - figure.lowerQuartile) / 2
        return String(format: "±%.0f%%", half / figure.median * 100)
    }
}

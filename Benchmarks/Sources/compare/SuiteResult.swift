import Contenders
import Foundation

/// What a suite came to.
struct SuiteResult {
    let suite: Suite
    let comparisons: [Comparison]
    /// Who took part, in the order of the table.
    let entries: [Entry]

    /// A table for people, with how the contenders were set up below.
    ///
    /// The median of the floor, or of the first where there is none, is a time, or a number of bytes, per item; everybody's is a multiple of it. Behind each is its spread: half
    /// the distance between the quartiles of the rounds, in per cent of the median.
    var table: String {
        let isOfTasks = suite == .tasks
        let head =
            ["job", "content", "size"] + (isOfTasks ? ["tasks"] : [])
            + entries.map { Self.shortened($0.name) }
            + (isOfTasks ? ["ours, items/s"] : [])
        let rows = comparisons.map { comparison in
            var row = [comparison.job, comparison.material.rawValue, byteCount(comparison.size)]
            if isOfTasks { row.append("\(comparison.tasks)") }
            row.append(
                "\(Self.amount(comparison.base.median, comparison.unit)) \(Self.spread(comparison.base))")
            for entry in entries.dropFirst() {
                row.append(
                    comparison.figure(of: entry.name).map {
                        "\(Self.multiple($0.median / comparison.base.median)) \(Self.spread($0))"
                    } ?? "–")
            }
            if isOfTasks { row.append(String(format: "%.0f", 1e6 / comparison.ours)) }
            return row
        }
        let legend =
            "Medians: time or space per item for the first, multiples of it for all others. ±: half the interquartile range."
        let setups = entries.map { "\(Self.shortened($0.name)): \($0.setup)" }
        return ([textTable([head] + rows, leading: 2), "", legend] + setups).joined(separator: "\n")
    }

    /// A column's width is worth more than our full name.
    private static func shortened(_ name: String) -> String { name.replacing(Entry.ourName, with: "ours") }

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

import Contenders
import Foundation

/// Comparisons as a table for people: medians, with the least and the most in brackets.
struct TableReport {
    let text: String

    init(_ comparisons: [Comparison]) {
        var rows = [["job", "content", "size", "floor µs", "ours µs", "× floor"]]
        rows[0] += comparisons.first?.peers.map { "\($0.name) µs" } ?? []
        for comparison in comparisons {
            rows.append(
                [
                    comparison.job.rawValue, comparison.material.rawValue, "\(comparison.size / 1024) KiB",
                    Self.cell(comparison.floor), comparison.ours.map(Self.cell) ?? "–",
                    comparison.ratioToFloor.map { String(format: "%.2f", $0) } ?? "–",
                ] + comparison.peers.map { Self.cell($0.figure) })
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        text = rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column < 2 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private static func cell(_ figure: Figure) -> String {
        String(format: "%.1f (%.1f–%.1f)", figure.median, figure.least, figure.most)
    }
}

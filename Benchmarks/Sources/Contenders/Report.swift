import Foundation

/// A table for a terminal: the first columns to the left, all others to the right.
///
/// - Precondition: `rows` is not empty, and all have as many cells.
public func textTable(_ rows: [[String]], leading: Int) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
        zip(row, widths).enumerated().map { column, cell in
            let padding = String(repeating: " ", count: cell.1 - cell.0.count)
            return column < leading ? cell.0 + padding : padding + cell.0
        }.joined(separator: "  ")
    }.joined(separator: "\n")
}

public func byteCount(_ bytes: Int) -> String {
    bytes < 1 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
}

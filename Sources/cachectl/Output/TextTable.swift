/// Rows of text in columns. The last column is not padded, so that long texts belong there.
struct TextTable {
    enum Alignment {
        case left, right
    }

    /// A longer text is printed whole, and moves the rest of its row only.
    static let widestPadding = 40

    private let columns: [Alignment]
    private var rows: [[String]] = []

    init(_ columns: [Alignment]) {
        self.columns = columns
    }

    mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// The rows, one line each.
    var lines: [String] {
        let widths = columns.indices.map { column in
            rows.lazy.map { $0[column].count }.filter { $0 <= Self.widestPadding }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, text) in row.enumerated() {
                let padding = String(repeating: " ", count: max(0, widths[column] - text.count))
                if column > 0 { line += "  " }
                switch columns[column] {
                case .right: line += padding + text
                case .left: line += column == row.count - 1 ? text : text + padding
                }
            }
            return line
        }
    }
}

/// The layout of rows of text in columns, once all of them were measured. The last column is not padded, so that
/// long texts belong there.
///
/// Each row of a table that is too long to be kept is created twice: to be measured, and to be printed.
struct TableLayout {
    enum Alignment {
        case left, right
    }

    /// Longer text is printed in full, and moves the rest of its row only.
    static let widestPadding = 40

    private let columns: [Alignment]
    private var widths: [Int]

    init(_ columns: [Alignment]) {
        self.columns = columns
        widths = columns.map { _ in 0 }
    }

    mutating func measure(_ row: [String]) {
        for (column, text) in row.enumerated() {
            let width = text.columns
            if width <= Self.widestPadding { widths[column] = max(widths[column], width) }
        }
    }

    func line(of row: [String]) -> String {
        var line = ""
        for (column, text) in row.enumerated() {
            let padding = String(repeating: " ", count: max(0, widths[column] - text.columns))
            if column > 0 { line += "  " }
            switch columns[column] {
            case .right: line += padding + text
            case .left: line += column == row.count - 1 ? text : text + padding
            }
        }
        return line
    }
}

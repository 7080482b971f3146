/// Rows of text in aligned columns. The last column is not padded, so long texts belong there.
struct TextTable {
    enum Alignment {
        case left, right
    }

    /// Longer text is printed in full, and only shifts the rest of its own row.
    static let widestPadding = 40

    private let columns: [Alignment]
    private var widths: [Int]
    private var rows: [[String]] = []

    init(_ columns: [Alignment]) {
        self.columns = columns
        widths = columns.map { _ in 0 }
    }

    /// A two-column table of names and values.
    init(_ pairs: KeyValuePairs<String, String>) {
        self.init([.left, .left])
        for (name, value) in pairs { add([name, value]) }
    }

    mutating func add(_ row: [String]) {
        measure(row)
        rows.append(row)
    }

    /// Widens the columns for a row without storing it, for tables that do not fit into memory: each row is created
    /// twice, once to be measured and once to be printed.
    mutating func measure(_ row: [String]) {
        for (column, text) in row.enumerated() {
            let width = text.columns
            if width <= Self.widestPadding { widths[column] = max(widths[column], width) }
        }
    }

    /// The rows that were added, one line each.
    var lines: [String] { rows.map(line) }

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

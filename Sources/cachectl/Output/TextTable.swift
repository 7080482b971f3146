/// Rows of text in columns; see ``TableLayout``.
struct TextTable {
    private let columns: [TableLayout.Alignment]
    private var rows: [[String]] = []

    init(_ columns: [TableLayout.Alignment]) {
        self.columns = columns
    }

    mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// The rows, one line each.
    var lines: [String] {
        var layout = TableLayout(columns)
        for row in rows { layout.measure(row) }
        return rows.map(layout.line)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal interprets the scalar instead of showing it: control characters, line separators, and
    /// bidirectional controls, which can make `fdp.exe` look like `exe.pdf`.
    var isTerminalHazard: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F1E6...0x1F1FF,
        0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]

    fileprivate var columns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // The emoji variation selector is a nonspacing mark: the width is that of its base scalar.
        return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
    }
}

extension String {
    /// What is printed of the source of an item, which may have none.
    var orNone: String { isEmpty ? "(none)" : self }

    /// The string for a terminal: on one line, with every hazard written as `\u{…}`.
    var escapedForTerminal: String {
        replacing({ $0.isTerminalHazard }) { "\\u{\(String($0.value, radix: 16, uppercase: true))}" }
    }

    /// The string with each scalar for which `isReplaced` is true replaced by `text`.
    func replacing(_ isReplaced: (Unicode.Scalar) -> Bool, with text: (Unicode.Scalar) -> String) -> String {
        guard unicodeScalars.contains(where: isReplaced) else { return self }
        return unicodeScalars.map { isReplaced($0) ? text($0) : String($0) }.joined()
    }

    var columns: Int { reduce(0) { $0 + $1.columns } }

    func prefix(columns: Int) -> String { String(prefix(Self.count(of: self, fitting: columns))) }

    func suffix(columns: Int) -> String {
        String(suffix(Self.count(of: reversed(), fitting: columns)))
    }

    private static func count(of characters: some Sequence<Character>, fitting columns: Int) -> Int {
        var width = 0
        var count = 0
        for character in characters {
            width += character.columns
            if width > columns { break }
            count += 1
        }
        return count
    }
}

extension Character {
    /// The width on a terminal, 0 to 2 columns, by East Asian Width (UAX #11). Emoji are two columns wide.
    var columns: Int {
        isASCII ? 1 : unicodeScalars.lazy.map(\.columns).max() ?? 0
    }
}

/// Rows of text in aligned columns, escaped for a terminal. The last column is not padded, so long texts belong there.
struct TextTable {
    enum Alignment { case left, right }

    /// Longer text is printed in full, and only shifts the rest of its own row.
    static let widestPadding = 40

    private let columns: [Alignment]
    private var widths: [Int]
    private var rows: [[String]] = []

    init(_ columns: [Alignment]) {
        self.columns = columns
        widths = columns.map { _ in 0 }
    }

    /// A two-column table of names and values, without the names that have no value.
    init(_ pairs: KeyValuePairs<String, String?>) {
        self.init(pairs.map { $0 })
    }

    init(_ pairs: [(key: String, value: String?)]) {
        self.init([.left, .left])
        for case (let name, let value?) in pairs { add([name, value]) }
    }

    mutating func add(_ row: [String]) {
        measure(row)
        rows.append(row)
    }

    /// Widens the columns for a row without storing it, for tables that do not fit into memory: each row is created
    /// twice, once to be measured and once to be printed.
    mutating func measure(_ row: [String]) {
        for (column, text) in row.enumerated() {
            let width = text.escapedForTerminal.columns
            if width <= Self.widestPadding { widths[column] = max(widths[column], width) }
        }
    }

    var lines: [String] { rows.map(line) }

    func line(of row: [String]) -> String {
        var line = ""
        for (column, text) in row.enumerated() {
            let text = text.escapedForTerminal
            let padding = String(repeating: " ", count: max(0, widths[column] - text.columns))
            if column > 0 { line += "  " }
            if columns[column] == .right { line += padding }
            line += text
            if columns[column] == .left, column < row.count - 1 { line += padding }
        }
        return line
    }
}

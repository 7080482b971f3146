/// A line for a terminal, in parts of one style each.
struct StyledLine: Hashable {
    /// The raw value is the parameter of "Select Graphic Rendition" (ECMA-48, 8.3.117). Only the first eight colours
    /// are used: they are legible on light and on dark terminals.
    enum Style: Int {
        case plain = 0
        case bold = 1
        case dim = 2
        case bad = 31
        case good = 32
        case warning = 33
        case accent = 36
    }

    private(set) var parts: [(text: String, style: Style)] = []

    init(_ text: String = "", _ style: Style = .plain) {
        if !text.isEmpty { parts = [(text, style)] }
    }

    static func + (left: StyledLine, right: StyledLine) -> StyledLine {
        var sum = left
        sum.parts += right.parts
        return sum
    }

    /// The text without its styles.
    var text: String { parts.map(\.text).joined() }

    /// The text to write, of at most `columns` columns.
    func rendered(columns: Int, isColoured: Bool) -> String {
        var left = columns
        var rendered = ""
        for (text, style) in parts where left > 0 {
            let shown = text.prefix(columns: left)
            rendered += isColoured && style != .plain ? "\u{1B}[\(style.rawValue)m\(shown)\u{1B}[0m" : shown
            // The first part that does not fit whole ends the line: nothing after it may take its place.
            left = shown.count < text.count ? 0 : left - shown.columns
        }
        return rendered
    }

    static func == (left: StyledLine, right: StyledLine) -> Bool {
        left.parts.elementsEqual(right.parts) { $0 == $1 }
    }

    func hash(into hasher: inout Hasher) {
        for part in parts {
            hasher.combine(part.text)
            hasher.combine(part.style)
        }
    }
}

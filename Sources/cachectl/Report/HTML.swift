/// Text for a page.
enum HTML {
    /// Text that comes from elsewhere, harmless: no markup, and what controls a terminal or the direction of text
    /// is written out.
    static func text(_ text: String) -> String {
        var escaped = ""
        for scalar in text.escapedForTerminal.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            // No characters at all in HTML, and nothing that is shown.
            case "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// A name that comes from elsewhere, whose direction does not touch what stands beside it.
    static func name(_ name: String) -> String { "<bdi>\(text(name))</bdi>" }
}

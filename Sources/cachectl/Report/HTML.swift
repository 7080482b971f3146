/// Text for a page.
enum HTML {
    /// Text from elsewhere, made harmless: without markup, and with the controls of terminals and of text direction
    /// written out.
    static func text(_ text: String) -> String {
        var escaped = ""
        for scalar in text.escapedForTerminal.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            // Not characters in HTML, and not visible.
            case "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// A name from elsewhere, whose direction does not affect the text beside it.
    static func name(_ name: String) -> String { "<bdi>\(text(name))</bdi>" }
}

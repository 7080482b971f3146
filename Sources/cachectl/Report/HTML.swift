enum HTML {
    /// Escapes markup, control characters and bidirectional controls in untrusted text.
    static func text(_ text: String) -> String {
        text.escapedForTerminal.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            // Noncharacters are not allowed in HTML.
            case "\u{FFFE}", "\u{FFFF}": "\u{FFFD}"
            default: String(scalar)
            }
        }.joined()
    }

    /// Escapes an untrusted name, and isolates its writing direction from the surrounding text.
    static func name(_ name: String) -> String { "<bdi>\(text(name))</bdi>" }
}

extension Unicode.Scalar {
    /// Whether a terminal obeys the scalar instead of showing it: control characters, line
    /// separators, and the controls of bidirectional text, which can make `fdp.exe` look like
    /// `exe.pdf`.
    var isTerminalHazard: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// The string for a terminal: on one line, with every hazard written as `\u{…}`.
    var escapedForTerminal: String {
        guard unicodeScalars.contains(where: \.isTerminalHazard) else { return self }
        var escaped = ""
        for scalar in unicodeScalars {
            if scalar.isTerminalHazard {
                escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// How much of a whole is used: `[########--]  84 %`.
package enum Bar {
    private static let width = 10

    package static func text(_ part: Int64, of whole: Int64) -> String {
        let percent = percent(part, of: whole)
        let filled = min(max(Int(percent) * width / 100, 0), width)
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        return "[\(bar)] \("\(percent)".padded(to: 3, .right)) %"
    }

    /// Rounded up, so that more than the whole is never shown as 100.
    package static func percent(_ part: Int64, of whole: Int64) -> Int64 {
        whole > 0 ? (part * 100 + whole - 1) / whole : 0
    }
}

package enum Alignment {
    case left, right
}

extension Int64 {
    /// The number of bytes as text: `512 B`, `31.4 KiB`, `2.0 MiB`.
    package var asBytes: String {
        if self < 1024 { return "\(self) B" }
        let (unit, name): (Int64, String) = self < 1 << 20 ? (1 << 10, "KiB") : (1 << 20, "MiB")
        let tenths = (self * 10 + unit / 2) / unit
        return "\(tenths / 10).\(tenths % 10) \(name)"
    }
}

extension String {
    package func padded(to width: Int, _ alignment: Alignment) -> String {
        let padding = String(repeating: " ", count: Swift.max(0, width - count))
        return alignment == .left ? self + padding : padding + self
    }

    /// The string with a `?` for every character that a terminal would obey instead of print.
    package var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "?"
                    default: scalar
                    }
                }))
    }
}

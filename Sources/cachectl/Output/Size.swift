/// A number of bytes as text, in units of 1,024: `512 B`, `1.2 MiB`, `400 KiB`.
enum Size {
    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    static func text(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        var exponent = 1
        // A size that rounds to 1024 takes the next unit: 1023.5 KiB is 1.0 MiB.
        while exponent < units.count, rounded(bytes, to: 1, exponent) >= 1024 { exponent += 1 }
        let unit = units[exponent - 1]
        let tenths = rounded(bytes, to: 10, exponent)
        return tenths < 100
            ? "\(tenths / 10).\(tenths % 10) \(unit)" : "\(rounded(bytes, to: 1, exponent)) \(unit)"
    }

    /// The size, followed by all digits if it was rounded: `1.2 MiB (1288895 bytes)`.
    static func exactText(_ bytes: Int64) -> String {
        bytes < 1024 ? text(bytes) : "\(text(bytes)) (\(bytes) bytes)"
    }

    /// `bytes` in parts of the unit 1,024^`exponent`, rounded half up.
    private static func rounded(_ bytes: Int64, to parts: Int128, _ exponent: Int) -> Int128 {
        let unit = Int128(1) << (10 * exponent)
        return (Int128(bytes) * parts + unit / 2) / unit
    }
}

internal import Foundation

/// A number of bytes as text, in powers of 1,024: `512 B`, `1.2 MiB`, `400 KiB`.
enum Size {
    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    static func text(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        var exponent = 1
        // A size that rounds to 1024 uses the next unit: 1023.5 KiB is 1.0 MiB.
        while exponent < units.count, rounded(bytes, to: 1, exponent) >= 1024 { exponent += 1 }
        let unit = units[exponent - 1]
        let tenths = rounded(bytes, to: 10, exponent)
        return tenths < 100
            ? "\(tenths / 10).\(tenths % 10) \(unit)" : "\(rounded(bytes, to: 1, exponent)) \(unit)"
    }

    /// The size, followed by the exact number if it was rounded: `1.2 MiB (1288895 bytes)`.
    static func exactText(_ bytes: Int64) -> String {
        bytes < 1024 ? text(bytes) : "\(text(bytes)) (\(bytes) bytes)"
    }

    /// `bytes` in parts of the unit 1,024^`exponent`, rounded half up.
    private static func rounded(_ bytes: Int64, to parts: Int128, _ exponent: Int) -> Int128 {
        let unit = Int128(1) << (10 * exponent)
        return (Int128(bytes) * parts + unit / 2) / unit
    }
}

/// A number of things: `1 item`, `2 items`.
enum Count {
    static func text(_ number: some BinaryInteger, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}

/// Thousandths as percentages: `25 %`, `2.5 %`.
enum Percent {
    static func text(_ perMille: Int64) -> String {
        let (whole, tenths) = perMille.quotientAndRemainder(dividingBy: 10)
        return tenths == 0 ? "\(whole) %" : "\(whole).\(tenths) %"
    }
}

/// How much of a whole is used: `[#####-----] 48 %`.
enum Bar {
    static let width = 10

    /// - Returns: A full bar only at 100 %.
    static func text(_ part: Int64, of whole: Int64) -> String {
        let percent = percent(part, of: whole)
        let cells = percent >= 100 ? width : min(Int((percent * Int64(width) + 50) / 100), width - 1)
        let bar = String(repeating: "#", count: cells) + String(repeating: "-", count: width - cells)
        return "[\(bar)] \(percent) %"
    }

    /// Rounded down, so that 100 means complete.
    static func percent(_ part: Int64, of whole: Int64) -> Int64 {
        guard whole > 0 else { return part > 0 ? 100 : 0 }
        return Int64(clamping: Int128(max(part, 0)) * 100 / Int128(whole))
    }
}

/// A length of time: `40 s`, `12 min`, `8.2 h`, `3.1 d`.
enum Timespan {
    static func text(seconds: Double) -> String {
        let (value, unit) =
            switch seconds {
            case ..<60: (seconds, "s")
            case ..<3600: (seconds / 60, "min")
            case ..<86400: (seconds / 3600, "h")
            default: (seconds / 86400, "d")
            }
        return value < 10 ? String(format: "%.1f \(unit)", value) : String(format: "%.0f \(unit)", value)
    }
}

/// Formats times, in milliseconds since 1970, as text.
enum Timestamp {
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// The years 0 to 9999, which ISO 8601 writes with four digits.
    static let writable = -62_167_219_200_000..<253_402_300_800_000 as Range<Int64>

    /// `2026-03-01T12:00:00Z, 3.1 d ago`
    static func withAge(milliseconds: Int64) -> String {
        let age = Timespan.text(seconds: Double(max(0, now &- milliseconds)) / 1000)
        return "\(text(milliseconds: milliseconds)), \(age) ago"
    }

    /// `2026-03-01`
    static func day(of milliseconds: Int64) -> String { String(text(milliseconds: milliseconds).prefix(10)) }

    /// `12:00:00`, in UTC.
    static func time(of milliseconds: Int64) -> String {
        String(text(milliseconds: milliseconds).dropFirst(11).prefix(8))
    }

    /// `2026-03-01T12:00:00Z`; a number of milliseconds for years outside ``writable``.
    static func text(milliseconds: Int64) -> String {
        guard writable.contains(milliseconds) else { return "\(milliseconds) ms after 1970" }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
    }
}

extension Duration {
    /// Rounded up.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }

    /// The seconds, with two decimals.
    var secondsText: String { String(format: "%.2f", self / .seconds(1)) }
}

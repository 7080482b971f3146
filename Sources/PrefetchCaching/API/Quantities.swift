/// A size as people write it: `4096`, `512MiB`, `1.5 GB`.
///
/// kB, MB, GB and TB are powers of 1,000; KiB, MiB, GiB and TiB are powers of 1,024. The first letter of a unit may be
/// lower or upper case. Fractions of a byte are truncated.
package enum ByteSize {
    package static func parse(_ text: String) throws(ByteSizeError) -> ByteCount {
        let number = text.utf8.prefix { $0 == UInt8(ascii: ".") || $0.isDecimal }
        let parts = number.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, parts.count <= 2, parts.last?.isEmpty == false else {
            throw text.isEmpty ? .empty : text.hasPrefix("-") ? .negative : .notANumber
        }
        let unit = try unit(text[number.endIndex...].drop { $0 == " " })
        guard parts.count == 1 || unit > 1 else { throw .partOfByte }
        guard let product = Int64(digits: whole, times: unit) else { throw .tooLarge }
        let fraction = parts.count == 1 ? 0 : fraction(parts[1], of: unit)
        let (bytes, overflow) = product.addingReportingOverflow(fraction)
        guard !overflow else { throw .tooLarge }
        return .bytes(bytes)
    }

    private static func unit(_ suffix: Substring) throws(ByteSizeError) -> Int64 {
        guard let first = suffix.first, suffix != "B" else { return 1 }
        guard let power = ["k", "m", "g", "t"].firstIndex(of: first.lowercased()), first.isASCII else {
            throw .unknownUnit
        }
        switch suffix.dropFirst() {
        case "B": return (0...power).reduce(1) { unit, _ in unit * 1000 }
        case "iB": return 1024 << (10 * power)
        case "": throw .ambiguousUnit
        default: throw .unknownUnit
        }
    }

    /// `0.digits × unit`, truncated to whole bytes. Digits after the 18th are ignored.
    private static func fraction(_ digits: Substring.UTF8View, of unit: Int64) -> Int64 {
        var numerator: Int128 = 0
        var denominator: Int128 = 1
        for digit in digits.prefix(18) {
            numerator = numerator * 10 + Int128(digit - UInt8(ascii: "0"))
            denominator *= 10
        }
        return Int64(numerator * Int128(unit) / denominator)
    }
}

package enum ByteSizeError: String, Error, CustomStringConvertible {
    case empty = "it is empty; write for example 512MiB"
    case negative = "it is negative; write for example 512MiB"
    case notANumber = "it is not a size; write for example 512MiB, 1.5GB or 4096"
    case unknownUnit = "its unit is unknown; use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"
    case ambiguousUnit = """
        its unit is ambiguous; write kB, MB, GB or TB for powers of 1000, KiB, MiB, GiB or TiB for powers of 1024
        """
    case partOfByte = "it is not a whole number of bytes"
    case tooLarge = "it is too large; the limit is 8 EiB"

    package var description: String { rawValue }
}

/// A length of time as people write it: `45s`, `30m`, `12h`, `7d`, `2w`.
package struct Lifetime: Hashable, Sendable {
    package let milliseconds: Int64

    /// The longest lifetime, about 146 million years, so that its end fits an item's expiry whenever it begins.
    package static let longest = Lifetime(milliseconds: .max / 2)

    private static let units: [Substring: Int64] = [
        "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
    ]

    private init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package init(_ text: String) throws(LifetimeError) {
        let number = text.utf8.prefix(while: \.isDecimal)
        guard !number.isEmpty else {
            throw text.isEmpty ? .empty : text.hasPrefix("-") ? .negative : .notANumber
        }
        let suffix = text[number.endIndex...].drop { $0 == " " }
        guard let unit = Self.units[suffix] else {
            throw suffix.isEmpty
                ? .noUnit : suffix.hasPrefix(".") || suffix.hasPrefix(",") ? .fraction : .unknownUnit
        }
        guard let milliseconds = Int64(digits: number, times: unit),
            milliseconds <= Self.longest.milliseconds
        else { throw .tooLarge }
        self.milliseconds = milliseconds
    }

    /// The end of a lifetime that begins at `now`. Both are in milliseconds since 1970.
    package func end(from now: Int64) -> Int64 {
        let (end, overflow) = now.addingReportingOverflow(milliseconds)
        // The item format uses `Int64.max` for "never expires".
        return overflow ? .max - 1 : end
    }

    /// The start of a period that ends at `now`. Both are in milliseconds since 1970.
    package func start(before now: Int64) -> Int64 {
        let (start, overflow) = now.subtractingReportingOverflow(milliseconds)
        return overflow ? .min : start
    }
}

package enum LifetimeError: String, Error, CustomStringConvertible {
    case empty = "it is empty; write for example 7d"
    case negative = "it is negative; write for example 7d"
    case notANumber = "it is not a duration; write for example 45s, 30m, 12h, 7d or 2w"
    case fraction = "it is not a whole number; write 90m instead of 1.5h"
    case noUnit = "it has no unit; use s, m, h, d or w for seconds, minutes, hours, days or weeks"
    case unknownUnit = "its unit is unknown; use s, m, h, d or w for seconds, minutes, hours, days or weeks"
    case tooLarge = "it is too large; the limit is 53375995583d"

    package var description: String { rawValue }
}

extension Int64 {
    /// The product of a number, written in ASCII digits only, and a unit; `nil` on overflow.
    package init?(digits: Substring.UTF8View, times unit: Int64) {
        guard let number = Int64(Substring(digits)) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        self = product
    }
}

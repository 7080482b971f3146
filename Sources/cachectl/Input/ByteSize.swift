internal import PrefetchCache

/// A size as a person writes it: `4096`, `512MiB`, `1.5 GB`.
///
/// kB, MB, GB and TB are powers of 1,000, KiB, MiB, GiB and TiB are powers of 1,024; the case of the
/// first letter does not matter. A part of a byte is dropped.
enum ByteSize {
    static func parse(_ text: String) throws(ByteSizeError) -> ByteCount {
        let number = text.utf8.prefix { $0 == UInt8(ascii: ".") || digits.contains($0) }
        let parts = number.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, parts.count <= 2, parts.last?.isEmpty == false else {
            throw error(in: text)
        }
        let suffix = text[number.endIndex...].drop { $0 == " " }
        let unit = try unit(String(suffix))
        guard parts.count == 1 || unit > 1 else { throw .partOfByte }

        let bytes = product(whole, unit).flatMap { bytes in
            parts.count == 1 ? bytes : sum(bytes, fraction(parts[1], of: unit))
        }
        guard let bytes else { throw .tooLarge }
        return .bytes(bytes)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    private static func powers(_ prefix: Character) -> (decimal: Int64, binary: Int64)? {
        switch prefix {
        case "k", "K": (1_000, 1 << 10)
        case "m", "M": (1_000_000, 1 << 20)
        case "g", "G": (1_000_000_000, 1 << 30)
        case "t", "T": (1_000_000_000_000, 1 << 40)
        default: nil
        }
    }

    private static func unit(_ suffix: String) throws(ByteSizeError) -> Int64 {
        guard let first = suffix.first, suffix != "B" else { return 1 }
        guard let powers = powers(first) else { throw .unknownUnit }
        switch suffix.dropFirst() {
        case "B": return powers.decimal
        case "iB": return powers.binary
        case "": throw .ambiguousUnit
        default: throw .unknownUnit
        }
    }

    /// Why `text` does not begin with a number.
    private static func error(in text: String) -> ByteSizeError {
        if text.isEmpty { return .empty }
        return text.hasPrefix("-") ? .negative : .notANumber
    }

    private static func product(_ digits: Substring.UTF8View, _ unit: Int64) -> Int64? {
        guard let number = Int64(Substring(digits)) else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow ? nil : bytes
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64? {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? nil : sum
    }

    /// `0.digits × unit`, without fractions of a byte. Digits after the 18th are too small to matter.
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

/// Why a text is not a size. ArgumentParser names the text and the option.
enum ByteSizeError: Error, Hashable, CaseIterable, CustomStringConvertible {
    case empty, negative, notANumber, unknownUnit, ambiguousUnit, partOfByte, tooLarge

    var description: String {
        switch self {
        case .empty: "it is empty; write for example 512MiB"
        case .negative: "it is negative; write for example 512MiB"
        case .notANumber: "it is not a size; write for example 512MiB, 1.5GB or 4096"
        case .unknownUnit: "its unit is unknown; use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"
        case .ambiguousUnit:
            "its unit can be read in two ways; write kB, MB, GB or TB for powers of 1000, "
                + "KiB, MiB, GiB or TiB for powers of 1024"
        case .partOfByte: "it is not a whole number of bytes"
        case .tooLarge: "it is too large; the limit is \(Int64.max) bytes"
        }
    }
}

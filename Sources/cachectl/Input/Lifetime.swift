/// How long an item is worth keeping, as a person writes it: `45s`, `30m`, `12h`, `7d`, `2w`.
struct Lifetime: Hashable {
    let milliseconds: Int64

    /// The longest lifetime, about 146 million years: whenever it begins, its end is a number that an
    /// item can carry.
    static let longest = Lifetime(milliseconds: .max / 2)

    private init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    init(_ text: String) throws(LifetimeError) {
        let digits = text.utf8.prefix(while: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        guard !digits.isEmpty else { throw Self.error(in: text) }
        let suffix = text[digits.endIndex...].drop { $0 == " " }
        let unit = try Self.milliseconds(per: suffix)
        // Only digits are left, so the number can only be too large.
        guard let number = Int64(Substring(digits)) else { throw .tooLarge }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow, milliseconds <= Self.longest.milliseconds else { throw .tooLarge }
        self.milliseconds = milliseconds
    }

    /// The end of a lifetime that begins now. Both are in milliseconds since 1970.
    func end(from now: Int64) -> Int64 {
        let (end, overflow) = now.addingReportingOverflow(milliseconds)
        // In the file, `Int64.max` stands for never.
        return overflow ? .max - 1 : end
    }

    /// The start of a period that ends now.
    func start(before now: Int64) -> Int64 {
        let (start, overflow) = now.subtractingReportingOverflow(milliseconds)
        return overflow ? .min : start
    }

    private static func milliseconds(per unit: Substring) throws(LifetimeError) -> Int64 {
        switch unit {
        case "s": 1000
        case "m": 60_000
        case "h": 3_600_000
        case "d": 86_400_000
        case "w": 604_800_000
        case "": throw .noUnit
        default: throw unit.hasPrefix(".") || unit.hasPrefix(",") ? .fraction : .unknownUnit
        }
    }

    /// Why `text` does not begin with a number.
    private static func error(in text: String) -> LifetimeError {
        if text.isEmpty { return .empty }
        return text.hasPrefix("-") ? .negative : .notANumber
    }
}

/// Why a text is not a lifetime. ArgumentParser names the text and the option.
enum LifetimeError: Error, Hashable, CaseIterable, CustomStringConvertible {
    case empty, negative, notANumber, fraction, noUnit, unknownUnit, tooLarge

    var description: String {
        switch self {
        case .empty: "it is empty; write for example 7d"
        case .negative: "it is negative; write for example 7d"
        case .notANumber: "it is not a duration; write for example 45s, 30m, 12h, 7d or 2w"
        case .fraction: "it is not a whole number; write 90m instead of 1.5h"
        case .noUnit: "it has no unit; use s, m, h, d or w for seconds, minutes, hours, days or weeks"
        case .unknownUnit:
            "its unit is unknown; use s, m, h, d or w for seconds, minutes, hours, days or weeks"
        case .tooLarge: "it is too large; the limit is \(Lifetime.longest.milliseconds / 86_400_000)d"
        }
    }
}

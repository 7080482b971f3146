internal import ArgumentParser
internal import PrefetchCaching

// Values of options. Each parser throws its reason, to which ArgumentParser adds the text and the option.

extension Option {
    /// An option whose value may begin with a minus sign, so that `parse` can say why it is wrong.
    init<T>(
        _ help: String, _ valueName: String, name: NameSpecification = .long,
        parse: @escaping @Sendable (String) throws -> T
    ) where Value == T? {
        self.init(
            name: name, parsing: .unconditional, help: ArgumentHelp(help, valueName: valueName),
            transform: parse)
    }
}

/// A human-readable size: `4096`, `512MiB`, `1.5 GB`.
///
/// kB, MB, GB and TB are powers of 1,000; KiB, MiB, GiB and TiB are powers of 1,024. The first letter of a unit may be
/// lower or upper case. Fractions of a byte are truncated.
enum ByteSize {
    static func parse(_ text: String) throws(ByteSizeError) -> ByteCount {
        let number = text.utf8.prefix { $0 == UInt8(ascii: ".") || digits.contains($0) }
        let parts = number.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, parts.count <= 2, parts.last?.isEmpty == false else {
            throw text.isEmpty ? .empty : text.hasPrefix("-") ? .negative : .notANumber
        }
        let unit = try unit(text[number.endIndex...].drop { $0 == " " })
        guard parts.count == 1 || unit > 1 else { throw .partOfByte }
        guard let product = scaled(whole, by: unit) else { throw .tooLarge }
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

enum ByteSizeError: String, Error, CustomStringConvertible {
    case empty = "it is empty; write for example 512MiB"
    case negative = "it is negative; write for example 512MiB"
    case notANumber = "it is not a size; write for example 512MiB, 1.5GB or 4096"
    case unknownUnit = "its unit is unknown; use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"
    case ambiguousUnit = """
        its unit is ambiguous; write kB, MB, GB or TB for powers of 1000, KiB, MiB, GiB or TiB for powers of 1024
        """
    case partOfByte = "it is not a whole number of bytes"
    case tooLarge = "it is too large; the limit is 9223372036854775807 bytes"

    var description: String { rawValue }
}

/// A size, or a keyword in its place: `--budget automatic`, `--cap none`.
enum SizeOr: Hashable {
    case size(ByteCount)
    case word

    /// Returns a parser for a size or `word`.
    static func parsing(_ word: String) -> @Sendable (String) throws -> SizeOr {
        { text in
            if text == word { return .word }
            do throws(ByteSizeError) {
                return .size(try ByteSize.parse(text))
            } catch {
                throw SizeOrError(word: word, error: error)
            }
        }
    }
}

struct SizeOrError: Error, Hashable, CustomStringConvertible {
    let word: String
    let error: ByteSizeError

    var description: String { "\(error), or '\(word)'" }
}

/// A byte range in HTTP notation, with both ends inclusive: `0-99`, `100-`, `-5`.
enum ByteRange: Hashable, CustomStringConvertible {
    case from(Int64, through: Int64)
    case toEnd(from: Int64)
    case last(Int64)

    init(_ text: String) throws(ByteRangeError) {
        guard let match = text.wholeMatch(of: /([0-9]*)-([0-9]*)/) else { throw .malformed }
        switch (Int64(match.1), Int64(match.2)) {
        case (let first?, let last?):
            guard first <= last else { throw .backwards }
            self = .from(first, through: last)
        case (let first?, nil) where match.2.isEmpty: self = .toEnd(from: first)
        case (nil, let count?) where match.1.isEmpty:
            guard count > 0 else { throw .noBytes }
            self = .last(count)
        default: throw .malformed
        }
    }

    /// The range within `length` bytes of content.
    func resolved(length: Int64) throws(ByteRangeError) -> Range<Int64> {
        switch self {
        case .from(let first, let last) where last < length: return first..<last + 1
        case .toEnd(let first) where first < length: return first..<length
        case .last(let count) where count <= length: return length - count..<length
        default: throw .pastEnd(self, length: length)
        }
    }

    var description: String {
        switch self {
        case .from(let first, let last): "\(first)-\(last)"
        case .toEnd(let first): "\(first)-"
        case .last(let count): "-\(count)"
        }
    }
}

enum ByteRangeError: Error, Hashable, CustomStringConvertible {
    case malformed, backwards, noBytes
    case pastEnd(ByteRange, length: Int64)

    var description: String {
        switch self {
        case .malformed:
            "it is not a range; write 0-99 for the first 100 bytes, 100- for the rest, -5 for the last 5"
        case .backwards: "it ends before it begins"
        case .noBytes: "it has no bytes"
        case .pastEnd(let range, let length):
            "the range \(range) is past the end: the item has \(length) bytes"
        }
    }
}

/// The time between two samples of a cache: `500ms`, `1s`, `2m`.
struct Interval: Hashable {
    static let shortest = Duration.milliseconds(100)
    static let longest = Duration.seconds(3600)

    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init(_ text: String) throws(IntervalError) {
        let units: [Substring: Int64] = ["ms": 1, "s": 1000, "m": 60_000]
        guard let match = text.wholeMatch(of: /([0-9]+) *([a-z]+)/), let unit = units[match.2] else {
            throw .malformed
        }
        guard let milliseconds = scaled(match.1.utf8, by: unit),
            (Self.shortest...Self.longest).contains(.milliseconds(milliseconds))
        else { throw .outOfRange }
        duration = .milliseconds(milliseconds)
    }
}

enum IntervalError: String, Error, CustomStringConvertible {
    case malformed = "it is not an interval; write for example 500ms, 1s or 2m"
    case outOfRange = "it is not between 100ms and 60m"

    var description: String { rawValue }
}

/// How long an item is worth keeping: `45s`, `30m`, `12h`, `7d`, `2w`.
struct Lifetime: Hashable {
    let milliseconds: Int64

    /// The longest lifetime, about 146 million years, so that its end fits an item's expiry whenever it begins.
    static let longest = Lifetime(milliseconds: .max / 2)

    private static let units: [Substring: Int64] = [
        "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
    ]

    private init(milliseconds: Int64) { self.milliseconds = milliseconds }

    init(_ text: String) throws(LifetimeError) {
        let number = text.utf8.prefix(while: digits.contains)
        guard !number.isEmpty else {
            throw text.isEmpty ? .empty : text.hasPrefix("-") ? .negative : .notANumber
        }
        let suffix = text[number.endIndex...].drop { $0 == " " }
        guard let unit = Self.units[suffix] else {
            throw suffix.isEmpty
                ? .noUnit : suffix.hasPrefix(".") || suffix.hasPrefix(",") ? .fraction : .unknownUnit
        }
        guard let milliseconds = scaled(number, by: unit), milliseconds <= Self.longest.milliseconds else {
            throw .tooLarge
        }
        self.milliseconds = milliseconds
    }

    /// The end of a lifetime that begins at `now`. Both are in milliseconds since 1970.
    func end(from now: Int64) -> Int64 {
        let (end, overflow) = now.addingReportingOverflow(milliseconds)
        // The item format uses `Int64.max` for "never expires".
        return overflow ? .max - 1 : end
    }

    /// The start of a period that ends at `now`. Both are in milliseconds since 1970.
    func start(before now: Int64) -> Int64 {
        let (start, overflow) = now.subtractingReportingOverflow(milliseconds)
        return overflow ? .min : start
    }
}

enum LifetimeError: String, Error, CustomStringConvertible {
    case empty = "it is empty; write for example 7d"
    case negative = "it is negative; write for example 7d"
    case notANumber = "it is not a duration; write for example 45s, 30m, 12h, 7d or 2w"
    case fraction = "it is not a whole number; write 90m instead of 1.5h"
    case noUnit = "it has no unit; use s, m, h, d or w for seconds, minutes, hours, days or weeks"
    case unknownUnit = "its unit is unknown; use s, m, h, d or w for seconds, minutes, hours, days or weeks"
    case tooLarge = "it is too large; the limit is 53375995583d"

    var description: String { rawValue }
}

/// The priority of an item from the command line: 0 to 1.
enum Priority {
    static func parse(_ text: String) throws(PriorityError) -> Float {
        guard let priority = Float(text) else { throw .notANumber }
        // Also rejects NaN.
        guard (0...1).contains(priority) else { throw .outOfRange }
        return priority
    }
}

enum PriorityError: String, Error, CustomStringConvertible {
    case notANumber = "it is not a number; write for example 0.5"
    case outOfRange = "it is not between 0 and 1"

    var description: String { rawValue }
}

/// ASCII digits only.
private let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

/// The product; `nil` on overflow. `number` must consist of digits.
private func scaled(_ number: Substring.UTF8View, by unit: Int64) -> Int64? {
    guard let number = Int64(Substring(number)) else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow ? nil : product
}

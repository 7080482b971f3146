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

/// A size, or a keyword in its place: `--budget automatic`, `--cap none`.
enum SizeOr: Hashable {
    case size(ByteCount)
    case word

    /// `nil` for the word.
    var size: ByteCount? { if case .size(let size) = self { size } else { nil } }

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
            "the range \(range) is past the end: the item has \(Count.text(length, "byte"))"
        }
    }
}

/// How long to wait: `500ms`, `1s`, `2m`.
struct Interval: Hashable, CustomStringConvertible {
    static let shortest = Duration.milliseconds(100)
    static let longest = Duration.seconds(3600)

    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init(_ text: String) throws(IntervalError) {
        let units: [Substring: Int64] = ["ms": 1, "s": 1000, "m": 60_000]
        guard let match = text.wholeMatch(of: /([0-9]+) *([a-z]+)/), let unit = units[match.2] else {
            throw .malformed
        }
        guard let milliseconds = Int64(digits: match.1.utf8, times: unit),
            (Self.shortest...Self.longest).contains(.milliseconds(milliseconds))
        else { throw .outOfRange }
        duration = .milliseconds(milliseconds)
    }

    var description: String {
        let milliseconds = duration.milliseconds
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}

enum IntervalError: String, Error, CustomStringConvertible {
    case malformed = "it is not an interval; write for example 500ms, 1s or 2m"
    case outOfRange = "it is not between 100ms and 60m"

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

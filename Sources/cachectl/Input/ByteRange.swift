/// A range of an item's content in the notation of HTTP, both ends included: `0-99`, `100-`, `-5`.
enum ByteRange: Hashable {
    case from(Int64, through: Int64)
    case toEnd(from: Int64)
    case last(Int64)

    init(_ text: String) throws(ByteRangeError) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .malformed }
        switch (try Self.number(parts[0]), try Self.number(parts[1])) {
        case (let first?, let last?):
            guard first <= last else { throw .backwards }
            self = .from(first, through: last)
        case (let first?, nil): self = .toEnd(from: first)
        case (nil, let count?):
            guard count > 0 else { throw .noBytes }
            self = .last(count)
        case (nil, nil): throw .malformed
        }
    }

    /// The range within `length` bytes of content.
    func resolved(length: Int64) throws(ByteRangeError) -> Range<Int64> {
        switch self {
        case .from(let first, let last):
            guard last < length else { throw .pastEnd(self, length: length) }
            return first..<last + 1
        case .toEnd(let first):
            guard first < length else { throw .pastEnd(self, length: length) }
            return first..<length
        case .last(let count):
            guard count <= length else { throw .pastEnd(self, length: length) }
            return length - count..<length
        }
    }

    /// The number that decimal digits form; `nil` when there are none.
    private static func number(_ digits: Substring.UTF8View) throws(ByteRangeError) -> Int64? {
        guard !digits.isEmpty else { return nil }
        guard digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = Int64(Substring(digits))
        else { throw .malformed }
        return number
    }
}

extension ByteRange: CustomStringConvertible {
    var description: String {
        switch self {
        case .from(let first, let last): "\(first)-\(last)"
        case .toEnd(let first): "\(first)-"
        case .last(let count): "-\(count)"
        }
    }
}

/// Why a range is invalid. ArgumentParser names the text of a malformed one.
enum ByteRangeError: Error, Hashable, CustomStringConvertible {
    case malformed
    case backwards
    case noBytes
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

/// The name under which an item is stored: 1 to 1,024 bytes of UTF-8 without NUL, compared byte for byte.
///
/// A key never becomes a file name; its hash does.
public struct ItemKey: Hashable, Sendable, CustomStringConvertible {
    /// The longest key, in bytes of UTF-8.
    public static let maximumBytes = 1024

    /// The key as text.
    public let string: String
    /// Determines the path of the item. Hashes may collide; the full key inside the item decides.
    package let hash: KeyHash

    /// Creates a key from 1 to ``maximumBytes`` bytes of UTF-8.
    ///
    /// - Throws: ``ItemKeyError`` if `string` is empty, too long or contains NUL.
    public init(_ string: String) throws(ItemKeyError) {
        var string = string
        string.makeContiguousUTF8()
        let length = string.utf8.count
        guard length > 0 else { throw .empty }
        guard length <= Self.maximumBytes else { throw .tooLong(bytes: length) }
        guard !string.utf8.contains(0) else { throw .containsNUL }
        self.string = string
        self.hash = KeyHash(of: string)
    }

    public var description: String { string }

    /// Compares bytes: Swift's string comparison treats canonically equivalent strings as equal.
    public static func == (left: ItemKey, right: ItemKey) -> Bool {
        left.hash == right.hash && left.string.utf8.elementsEqual(right.string.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}

/// Why a string cannot be a key.
public enum ItemKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The string is empty.
    case empty
    /// The string has more than ``ItemKey/maximumBytes`` bytes of UTF-8.
    case tooLong(bytes: Int)
    /// The string contains NUL, which terminates strings in SQLite and C, so that two keys could be confused.
    case containsNUL

    public var description: String {
        switch self {
        case .empty: "the key is empty; give it at least one character"
        case .tooLong(let bytes):
            "the key has \(bytes) bytes of UTF-8; at most \(ItemKey.maximumBytes) are allowed"
        case .containsNUL: "the key contains a NUL byte; use another separator"
        }
    }
}

/// The 128-bit XXH3 hash of a key, in canonical (big-endian) order.
package struct KeyHash: Hashable, Sendable, Comparable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(of string: String) {
        var string = string
        let hash = string.withUTF8 { Checksum.xxh128(UnsafeRawBufferPointer($0)) }
        self.init(high: hash.high, low: hash.low)
    }

    /// 32 lowercase hexadecimal digits.
    package var hexadecimal: String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            for digit in 0..<32 {
                let word = digit < 16 ? high : low
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - digit % 16 * 4)) & 15
                buffer[digit] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
            }
            return 32
        }
    }

    /// The inverse of ``hexadecimal``: `nil` unless there are exactly 32 lowercase digits.
    ///
    /// - Note: Not generic, because it is called for every file, from another module.
    package init?(hexadecimal: String) {
        var text = hexadecimal
        guard let hash = text.withUTF8(Self.init(digits:)) else { return nil }
        self = hash
    }

    private init?(digits: UnsafeBufferPointer<UInt8>) {
        guard digits.count == 32 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<32 {
            let nibble: UInt8
            let digit = digits[index]
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): nibble = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): nibble = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if index < 16 { high = high << 4 | UInt64(nibble) } else { low = low << 4 | UInt64(nibble) }
        }
        self.init(high: high, low: low)
    }

    /// The 16 bytes in canonical order.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(high.byteSwapped)
        writer.append(low.byteSwapped)
        return writer.bytes
    }

    package static func < (left: KeyHash, right: KeyHash) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension ItemKey: ExpressibleByStringLiteral {
    /// Creates a key from a literal. A literal that is empty, too long or contains NUL is a programming error and
    /// traps; use ``init(_:)`` for all other strings.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

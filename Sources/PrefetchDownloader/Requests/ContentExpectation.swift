/// What is known of a content before it is downloaded. Content that does not meet it is never stored.
public enum ContentExpectation: Hashable, Sendable {
    /// The SHA-256 digest of the content: 32 bytes.
    case sha256([UInt8])
    /// The length of the content in bytes.
    case length(Int64)

    /// Creates an expectation from 64 hexadecimal digits, as `sha256sum` prints them; `nil` for anything
    /// else.
    public static func sha256(hexadecimal text: String) -> ContentExpectation? {
        guard text.utf8.count == 64 else { return nil }
        var bytes: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty {
            let pair = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard pair.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes.count == 32 ? .sha256(bytes) : nil
    }
}

/// All expectations of one content.
struct Expectations: Hashable, Sendable {
    var digest: [UInt8]?
    var length: Int64?

    init(_ expectations: [ContentExpectation]) {
        for expectation in expectations {
            switch expectation {
            case .sha256(let bytes): digest = bytes
            case .length(let bytes): length = bytes
            }
        }
    }
}

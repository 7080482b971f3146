/// A number of bytes in a header: digits and nothing else, at most `Int64.max`.
enum ByteNumber {
    static func parse(_ text: some StringProtocol) -> Int64? {
        // `Int64.init` accepts a sign, which no header has.
        guard !text.isEmpty, text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            return nil
        }
        return Int64(text)
    }

    /// Parses the `Content-Length` header. Several equal values, which a proxy may have joined with commas,
    /// count as one (RFC 9110, section 8.6); different values are invalid.
    static func contentLength(_ text: String) -> Int64? {
        let values = Set(text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed))
        guard values.count == 1, let value = values.first else { return nil }
        return parse(value)
    }
}

extension StringProtocol {
    /// The text without the white space that HTTP allows around a value.
    var trimmed: SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}

extension Character {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}

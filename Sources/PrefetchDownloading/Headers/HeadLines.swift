internal import Foundation

/// Collects the head of a response from its lines, as they come from the network.
struct HeadLines {
    /// The most bytes of a response's heads, which a server could otherwise send without end. As much as curl 8.2 takes.
    static let capacity = 300 << 10

    /// There are more bytes than ``capacity``.
    struct TooLong: Error {}

    private var status = 0
    private var isFramed = false
    private var fields: [(name: String, value: String)] = []
    private var length = 0
    private var isComplete = false

    /// Adds a line with its end.
    ///
    /// Heads of interim responses (RFC 9110, section 15.2) are skipped, and so are fields that follow the body (RFC 9112,
    /// section 7.1.2).
    ///
    /// - Returns: The head with its last line, otherwise `nil`.
    mutating func add(_ line: some Collection<UInt8>) throws(TooLong) -> ResponseHead? {
        length += line.count
        guard length <= Self.capacity else { throw TooLong() }
        guard !isComplete else { return nil }
        let text = Self.text(line)
        if text.hasPrefix("HTTP/") {
            let words = text.split(separator: " ", maxSplits: 2)
            status = words.count > 1 ? Int(words[1]) ?? 0 : 0
            isFramed = !text.hasPrefix("HTTP/1")
            fields = []
        } else if text.isEmpty {
            isComplete = status >= 200
            return isComplete ? ResponseHead(status: status, isFramed: isFramed, fields: fields) : nil
        } else if text.first == " " || text.first == "\t" {
            // A continued value (RFC 9112, section 5.2).
            if let last = fields.indices.last { fields[last].value += " \(text.trimmed)" }
        } else if let colon = text.firstIndex(of: ":") {
            fields.append((String(text[..<colon]), text[text.index(after: colon)...].trimmed))
        }
        return nil
    }

    /// Fields in Latin-1 are as common as those in UTF-8 (RFC 9110, section 5.5). Of a URL the bytes count.
    private static func text(_ line: some Collection<UInt8>) -> String {
        let bytes = line.reversed().drop { $0 == 0x0A || $0 == 0x0D }.reversed()
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let text = String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
        guard text.lowercased().hasPrefix("location:") else { return text }
        return bytes.map { $0 < 0x80 ? String(Unicode.Scalar($0)) : URL.code(of: $0) }.joined()
    }
}

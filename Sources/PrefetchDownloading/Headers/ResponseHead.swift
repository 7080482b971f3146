internal import Foundation
internal import PrefetchCaching

/// The status and the headers of a response.
struct ResponseHead: Sendable {
    let status: Int
    /// Whether the response came by HTTP/2 or later, which mark the end of every body; `nil` if that is unknown.
    private let isFramed: Bool?
    /// Whether the transport decodes the body if it is encoded.
    let isDecoded: Bool
    /// The values by lowercase name.
    private let fields: [String: String]
    /// The values of `Set-Cookie`, which cannot be joined.
    let cookies: [String]

    init(
        status: Int, isFramed: Bool? = nil, isDecoded: Bool = false, fields: [(name: String, value: String)]
    ) {
        self.status = status
        self.isFramed = isFramed
        self.isDecoded = isDecoded
        cookies = fields.filter { $0.name.lowercased() == "set-cookie" }.map(\.value)
        self.fields = Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { first, second in
            "\(first), \(second)"
        }
    }

    subscript(name: String) -> String? { fields[name] }

    /// The length of this response's body in bytes; `nil` if not reported, or malformed.
    var contentLength: Int64? { lengthField.flatMap(ByteNumber.contentLength) }

    var hasMalformedLength: Bool { lengthField != nil && contentLength == nil }

    /// A transfer coding overrides the length (RFC 9112, section 6.3). The system reports `identity` for one that it has
    /// decoded on Apple platforms.
    private var lengthField: String? {
        ["identity", nil].contains(self["transfer-encoding"]?.trimmed.lowercased())
            ? self["content-length"] : nil
    }

    var contentRange: ContentRange? { self["content-range"].flatMap(ContentRange.init) }

    var entityTag: EntityTag? { self["etag"].flatMap(EntityTag.init) }

    /// Whether a truncated body can be distinguished from a complete one: it has a length, uses chunked encoding, or
    /// is framed by HTTP/2 or later (RFC 9112, section 8). The end of a connection proves nothing, since not every TLS
    /// library reports truncation.
    ///
    /// - Parameter isSecure: Whether the response uses TLS. `URLSession` does not tell the version: only with TLS can it be
    ///   HTTP/2 or later, and only if there is no `Connection`, a header that these versions forbid.
    func marksEnd(isSecure: Bool) -> Bool {
        if contentLength != nil { return true }
        guard let codings = self["transfer-encoding"]?.lowercased() else {
            return isFramed ?? (isSecure && self["connection"] == nil)
        }
        #if canImport(Darwin)
            // The system decodes the chunks and reports `identity`.
            if codings.trimmed == "identity" { return true }
        #endif
        return codings.trimmed.hasSuffix("chunked")
    }

    /// The delay that the server requests, at most a year.
    var retryAfter: Duration? { self["retry-after"].flatMap { RetryAfter.parse($0, sent: self["date"]) } }
}

/// The `Content-Range` header of a partial response, such as `bytes 1048576-2097151/4194304` (RFC 9110, section 14.4).
struct ContentRange: Hashable, Sendable {
    /// Not empty.
    let bytes: Range<Int64>
    /// The length of the whole content in bytes.
    let total: Int64

    /// Returns `nil` for anything that the RFC does not allow: a misread header would put bytes at the wrong offset. Also
    /// for a range that cannot be satisfied, or of an unknown total, after which nothing can be stored.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let fields = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 2, let total = ByteNumber.parse(fields[1]) else { return nil }
        let ends = fields[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteNumber.parse(ends[0]), let last = ByteNumber.parse(ends[1]),
            first <= last, last < total
        else { return nil }
        bytes = first..<last + 1
        self.total = total
    }
}

/// The `ETag` header (RFC 9110, section 8.8.3).
struct EntityTag: Hashable, Sendable {
    /// The tag as received, with its quotes and, if weak, its `W/` prefix.
    let text: String

    /// Whether equal tags mean equal bytes, as required for resuming a download.
    var isStrong: Bool { !text.hasPrefix("W/") }

    /// The weak comparison (RFC 9110, section 8.8.3.2).
    func isSimilar(to other: EntityTag) -> Bool { opaque == other.opaque }

    private var opaque: Substring { isStrong ? text[...] : text.dropFirst(2) }

    /// Returns `nil` for an invalid entity tag, since it is sent back in the headers of later requests.
    init?(_ text: String) {
        let text = text.trimmed
        let opaque = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        guard opaque.utf8.count >= 2, opaque.hasPrefix("\""), opaque.hasSuffix("\""),
            opaque.dropFirst().dropLast().utf8.allSatisfy({ $0 > 0x20 && $0 != 0x22 && $0 != 0x7F })
        else { return nil }
        self.text = text
    }
}

extension Validator {
    /// Creates the validator of a response's version. Omits values that an item cannot store or a request cannot send
    /// back. One that is not as the RFC has it, such as a tag without quotes or a date in UTC, tells the server what is
    /// here, but not two versions apart, see ``rangeCondition``.
    init(_ head: ResponseHead) {
        // Any version matches an asterisk.
        let tag = head["etag"].flatMap { $0.trimmed == "*" ? nil : $0 }
        self.init(
            entityTag: head.entityTag?.text.storable ?? tag?.echo, lastModified: head["last-modified"]?.echo)
    }

    /// The minimum number of seconds between `Last-Modified` and `Date` for `Last-Modified`, which has a resolution of
    /// one second, to be a strong validator. RFC 9110, section 8.8.2.2, requires one second if both are from the same
    /// clock; the 60 seconds of RFC 7232 also allow for two clocks that differ.
    static let margin: Int64 = 60

    /// Whether equal validators mean equal bytes, so that a download can be resumed: the entity tag is strong, or the
    /// resource had been unchanged for ``margin`` when the server sent the response. Only the server's clock is used,
    /// since the client's may be wrong.
    ///
    /// - Parameter head: The response that the validator came from.
    func isStrong(in head: ResponseHead) -> Bool {
        if strongTag != nil { return true }
        guard let changed = lastModified.flatMap(HTTPDate.parse),
            let sent = head["date"].flatMap({ HTTPDate.parse($0.trimmed) })
        else { return false }
        return changed + Self.margin <= sent
    }

    /// The value for `If-Range`, assuming that the validator is strong; `nil` if there is none.
    var rangeCondition: String? {
        strongTag ?? lastModified.flatMap { HTTPDate.parse($0) == nil ? nil : $0 }
    }

    private var strongTag: String? {
        entityTag.flatMap(EntityTag.init).flatMap { $0.isStrong ? $0.text : nil }
    }
}

/// A number of bytes in a header: only digits, at most `Int64.max`.
enum ByteNumber {
    static func parse(_ text: some StringProtocol) -> Int64? {
        // `Int64.init` would accept a sign.
        text.isNumber ? Int64(text) : nil
    }

    /// Parses the `Content-Length` header. Repeated equal values, which a proxy may have joined with commas, are
    /// accepted (RFC 9110, section 8.6); different values are invalid.
    static func contentLength(_ text: String) -> Int64? {
        let values = Set(text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed))
        return values.count == 1 ? values.first.flatMap(parse) : nil
    }
}

extension StringProtocol {
    /// The text without the optional whitespace that HTTP allows around a value.
    var trimmed: String {
        // Foundation's trimming takes more time than all else that is done with a head.
        var rest = Substring(self).utf8
        while let byte = rest.first, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") {
            rest.removeFirst()
        }
        while let byte = rest.last, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") {
            rest.removeLast()
        }
        return String(Substring(rest))
    }

    fileprivate var isNumber: Bool {
        !isEmpty && utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    }

    /// The value of a header as it can be sent back; `nil` if it cannot.
    fileprivate var echo: String? {
        let text = trimmed
        return !text.isEmpty && text.utf8.allSatisfy((UInt8(0x20)...0x7E).contains) ? text.storable : nil
    }

    /// `nil` if it is longer than an item stores.
    fileprivate var storable: String? {
        utf8.count <= ItemLimits.validatorBytes ? String(self) : nil
    }
}

/// HTTP dates, in seconds since 1970 (RFC 9110, section 5.6.7). Foundation's format style for them requires newer
/// systems than this package does.
enum HTTPDate {
    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`; the two formats that servers of the last century sent are none. The day name is not
    /// validated against the date.
    static func parse(_ text: String) -> Int64? {
        // An accepted date is sent back in the headers of later requests.
        guard text.utf8.count <= 40, text.utf8.allSatisfy((UInt8(0x20)...0x7E).contains) else { return nil }
        let words = text.split(separator: " ")
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
            let day = ByteNumber.parse(words[1]), (1...31).contains(day),
            let month = months.firstIndex(of: words[2]),
            let year = ByteNumber.parse(words[3]), (1601...9999).contains(year)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false).compactMap(
            ByteNumber.parse)
        guard words[4].utf8.count == 8, clock.count == 3, clock[0] < 24, clock[1] < 60, clock[2] <= 60
        else { return nil }
        let date = DateComponents(
            calendar: Calendar(identifier: .gregorian), timeZone: .gmt, year: Int(year), month: month + 1,
            day: Int(day), hour: Int(clock[0]), minute: Int(clock[1]), second: Int(clock[2])
        ).date
        return date.map { Int64($0.timeIntervalSince1970) }
    }

    private static let months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(separator: " ")
}

/// The `Retry-After` header: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Returns the requested delay, at most a year; zero for a date in the past, and `nil` for an invalid header.
    ///
    /// - Parameters:
    ///   - sent: The `Date` header of the response: a date is meant by the clock of the server, if that is known.
    ///   - now: The time by the own clock, in seconds since 1970.
    static func parse(
        _ text: String, sent: String? = nil, now: Int64 = Int64(Date().timeIntervalSince1970)
    ) -> Duration? {
        let text = text.trimmed
        let year: Int64 = 365 * 86_400
        if text.isNumber { return .seconds(min(ByteNumber.parse(text) ?? year, year)) }
        let start = sent.flatMap { HTTPDate.parse($0.trimmed) } ?? now
        return HTTPDate.parse(text).map { .seconds(min(max(0, $0 - start), year)) }
    }
}

internal import PrefetchCaching

/// The status and the headers of a response.
struct ResponseHead: Sendable {
    let status: Int
    /// The values by lowercase name.
    private let fields: [String: String]

    init(status: Int, fields: [(name: String, value: String)]) {
        self.status = status
        self.fields = Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { first, second in
            "\(first), \(second)"
        }
    }

    subscript(name: String) -> String? { fields[name] }

    /// The length of this response's body in bytes; `nil` if not reported.
    var contentLength: Int64? { self["content-length"].flatMap(ByteNumber.contentLength) }

    var contentRange: ContentRange? { self["content-range"].flatMap(ContentRange.init) }

    var entityTag: EntityTag? { self["etag"].flatMap(EntityTag.init) }

    /// Whether a truncated body can be distinguished from a complete one: it has a length, uses chunked encoding, or
    /// is framed by HTTP/2 or later (RFC 9112, section 8). The end of a connection proves nothing, since not every TLS
    /// library reports truncation.
    ///
    /// - Parameter isSecure: Whether the response uses TLS. Only then can it be HTTP/2 or later, which is recognisable
    ///   only by the absence of `Connection`, a header that these versions forbid.
    func marksEnd(isSecure: Bool) -> Bool {
        if contentLength != nil { return true }
        guard let codings = self["transfer-encoding"]?.lowercased() else {
            return isSecure && self["connection"] == nil
        }
        #if canImport(Darwin)
            // The system decodes the chunks and reports `identity`.
            if codings.trimmed == "identity" { return true }
        #endif
        return codings.trimmed.hasSuffix("chunked")
    }

    /// The encoding that the server applied despite `Accept-Encoding: identity`.
    var contentEncoding: String? {
        guard let encoding = self["content-encoding"]?.trimmed, !encoding.isEmpty,
            encoding.lowercased() != "identity"
        else { return nil }
        return String(encoding)
    }
}

/// The `Content-Range` header of a partial response, or of a response to a range that cannot be satisfied
/// (RFC 9110, section 14.4).
enum ContentRange: Hashable, Sendable {
    /// `bytes 1048576-2097151/4194304`; `total` is `nil` for `*`.
    case bytes(ClosedRange<Int64>, total: Int64?)
    /// `bytes */4194304`
    case unsatisfied(total: Int64)

    /// Returns `nil` for anything that the RFC does not allow: a misread header would put bytes at the wrong offset.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let fields = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 2 else { return nil }
        let total = ByteNumber.parse(fields[1])
        guard total != nil || fields[1] == "*" else { return nil }
        if fields[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = fields[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteNumber.parse(ends[0]), let last = ByteNumber.parse(ends[1]),
            first <= last, last < total ?? .max
        else { return nil }
        self = .bytes(first...last, total: total)
    }
}

/// The `ETag` header (RFC 9110, section 8.8.3).
struct EntityTag: Hashable, Sendable {
    /// The tag as received, with its quotes and, if weak, its `W/` prefix.
    let text: String

    /// Whether equal tags mean equal bytes, as required for resuming a download.
    var isStrong: Bool { !text.hasPrefix("W/") }

    /// Returns `nil` for an invalid entity tag, since it is sent back in the headers of later requests.
    init?(_ text: String) {
        let text = String(text.trimmed)
        let opaque = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        guard opaque.utf8.count >= 2, opaque.hasPrefix("\""), opaque.hasSuffix("\""),
            opaque.dropFirst().dropLast().utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte == 0x21 || (0x23...0x7E).contains(byte) || byte >= 0x80
    }
}

extension Validator {
    /// Creates the validator of a response's version. Omits values that an item cannot store or a request cannot send
    /// back.
    ///
    /// - Parameter now: Seconds since 1970.
    init(_ head: ResponseHead, now: Int64) {
        let limit = ItemLimits.validatorBytes
        let tag = head.entityTag?.text
        let date = head["last-modified"].map { String($0.trimmed) }
        self.init(
            entityTag: tag.flatMap { $0.utf8.count <= limit ? $0 : nil },
            lastModified: date.flatMap { HTTPDate.parse($0, now: now) == nil ? nil : $0 })
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
    func isStrong(in head: ResponseHead, now: Int64) -> Bool {
        if strongTag != nil { return true }
        guard let changed = lastModified.flatMap({ HTTPDate.parse($0, now: now) }),
            let sent = head["date"].flatMap({ HTTPDate.parse(String($0.trimmed), now: now) })
        else { return false }
        return changed + Self.margin <= sent
    }

    /// The value for `If-Range`, assuming that the validator is strong; `nil` if there is none.
    ///
    /// - Parameter now: Seconds since 1970.
    func rangeCondition(now: Int64) -> String? {
        strongTag ?? lastModified.flatMap { HTTPDate.parse($0, now: now) == nil ? nil : $0 }
    }

    private var strongTag: String? {
        entityTag.flatMap(EntityTag.init).flatMap { $0.isStrong ? $0.text : nil }
    }

    var isEmpty: Bool { entityTag == nil && lastModified == nil }
}

/// A number of bytes in a header: only digits, at most `Int64.max`.
enum ByteNumber {
    static func parse(_ text: some StringProtocol) -> Int64? {
        // `Int64.init` would accept a sign.
        guard !text.isEmpty, text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            return nil
        }
        return Int64(text)
    }

    /// Parses the `Content-Length` header. Repeated equal values, which a proxy may have joined with commas, are
    /// accepted (RFC 9110, section 8.6); different values are invalid.
    static func contentLength(_ text: String) -> Int64? {
        let values = Set(text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed))
        guard values.count == 1, let value = values.first else { return nil }
        return parse(value)
    }
}

extension StringProtocol {
    /// The text without the optional whitespace that HTTP allows around a value.
    var trimmed: SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}

extension Character {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}

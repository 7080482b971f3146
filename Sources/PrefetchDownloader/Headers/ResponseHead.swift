/// The status and the headers of a response.
struct ResponseHead: Sendable {
    let status: Int
    /// The values by lower-case names.
    private let fields: [String: String]

    init(status: Int, fields: [(name: String, value: String)]) {
        self.status = status
        self.fields = Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { first, second in
            "\(first), \(second)"
        }
    }

    subscript(name: String) -> String? { fields[name] }

    /// Bytes of the body of this response; `nil` if not reported.
    var contentLength: Int64? { self["content-length"].flatMap(ByteNumber.contentLength) }

    var contentRange: ContentRange? { self["content-range"].flatMap(ContentRange.init) }

    var entityTag: EntityTag? { self["etag"].flatMap(EntityTag.init) }

    /// Whether a body that is cut short can be told from a complete one: it has a length, or is sent in chunks
    /// of which the last is marked, or in the frames of HTTP/2 or later (RFC 9112, section 8). The end of a
    /// connection proves nothing: not every library of TLS reports one that was cut.
    ///
    /// - Parameter isSecure: Whether the response comes over TLS. Only then it may be HTTP/2 or later, which
    ///   does not show but in the absence of `Connection`, a header that these versions forbid.
    func marksEnd(isSecure: Bool) -> Bool {
        if contentLength != nil { return true }
        guard let codings = self["transfer-encoding"]?.lowercased() else {
            return isSecure && self["connection"] == nil
        }
        #if canImport(Darwin)
            // The system removes the chunks and says so.
            if codings.trimmed == "identity" { return true }
        #endif
        return codings.trimmed.hasSuffix("chunked")
    }

    /// The encoding that the server applied although it was asked not to.
    var contentEncoding: String? {
        guard let encoding = self["content-encoding"]?.trimmed, !encoding.isEmpty,
            encoding.lowercased() != "identity"
        else { return nil }
        return String(encoding)
    }
}

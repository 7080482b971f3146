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

    /// The encoding that the server applied although it was asked not to.
    var contentEncoding: String? {
        guard let encoding = self["content-encoding"]?.trimmed, !encoding.isEmpty,
            encoding.lowercased() != "identity"
        else { return nil }
        return String(encoding)
    }
}

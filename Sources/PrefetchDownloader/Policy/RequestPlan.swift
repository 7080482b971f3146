internal import PrefetchCache

/// What a server is asked for.
enum RequestPlan: Equatable, Sendable {
    /// The whole content.
    case whole
    /// The content, unless it is the version that the cache has.
    case newer(than: Validator)
    /// What follows on the partial's bytes, or the whole content when they are of another version.
    case rest(of: PartialItem, condition: String)
    /// Whether the partial, which has all bytes, is still the version that there is.
    case confirmation(of: PartialItem)

    /// - Parameters:
    ///   - cached: The validator of the item in the cache, when it is to be compared.
    ///   - expectedLength: The length that the caller expects.
    init(partial: PartialItem?, cached: Validator?, expectedLength: Int64?) {
        if let partial, partial.contentLength > 0,
            let condition = partial.metadata.validator.rangeCondition(storedAt: partial.metadata.storedAt),
            expectedLength == nil || partial.expectedLength == nil || expectedLength == partial.expectedLength
        {
            self =
                partial.contentLength == partial.expectedLength
                ? .confirmation(of: partial) : .rest(of: partial, condition: condition)
        } else if let cached, !cached.isEmpty {
            self = .newer(than: cached)
        } else {
            self = .whole
        }
    }

    /// The headers that ask for it, and those that the caller may not have set.
    var headers: [(name: String, value: String?)] {
        var headers: [String: String] = [:]
        switch self {
        case .whole: break
        case .newer(let validator): headers = validator.unlessUnchanged
        case .confirmation(let partial): headers = partial.metadata.validator.unlessUnchanged
        case .rest(let partial, let condition):
            headers = ["Range": "bytes=\(partial.contentLength)-", "If-Range": condition]
        }
        // Lengths and ranges are those of the content only when nobody encodes it on the way.
        headers["Accept-Encoding"] = "identity"
        let own = [
            "Accept-Encoding", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match",
            "If-Unmodified-Since",
        ]
        return own.map { ($0, headers[$0]) }
    }
}

extension Validator {
    /// `If-None-Match` goes alone: whoever knows it is to ignore the date.
    fileprivate var unlessUnchanged: [String: String] {
        if let entityTag { return ["If-None-Match": entityTag] }
        return lastModified.map { ["If-Modified-Since": $0] } ?? [:]
    }
}

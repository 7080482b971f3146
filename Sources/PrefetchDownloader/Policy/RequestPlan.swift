internal import PrefetchCache

/// What to request from a server.
enum RequestPlan: Equatable, Sendable {
    /// The whole content.
    case whole
    /// The content, unless it is the version that the cache has.
    case newer(than: Validator)
    /// What follows the bytes of the partial, or the whole content if those are of another version.
    case rest(of: PartialItem, condition: String)
    /// Whether the partial, which has all bytes, is still the present version.
    case confirmation(of: PartialItem)

    /// - Parameters:
    ///   - cached: The validator of the cached item, if it is to be compared.
    ///   - expectedLength: The length that the caller expects, in bytes.
    init(partial: PartialItem?, cached: Validator?, expectedLength: Int64?) {
        if let partial, partial.contentLength > 0,
            // Its validator was found to be strong when it was begun.
            let condition = partial.metadata.validator.rangeCondition(
                now: partial.metadata.storedAt / 1000),
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

    /// The headers of the request; `nil` removes a header that the caller has set.
    var headers: [(name: String, value: String?)] {
        var headers: [String: String] = [:]
        switch self {
        case .whole: break
        case .newer(let validator): headers = validator.unlessUnchanged
        case .confirmation(let partial): headers = partial.metadata.validator.unlessUnchanged
        case .rest(let partial, let condition):
            headers = ["Range": "bytes=\(partial.contentLength)-", "If-Range": condition]
        }
        // Lengths and ranges are those of the content only if it is not encoded on the way.
        headers["Accept-Encoding"] = "identity"
        let own = [
            "Accept-Encoding", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match",
            "If-Unmodified-Since",
        ]
        return own.map { ($0, headers[$0]) }
    }
}

extension Validator {
    /// `If-None-Match` is sent alone: a server that supports it ignores the date.
    fileprivate var unlessUnchanged: [String: String] {
        if let entityTag { return ["If-None-Match": entityTag] }
        return lastModified.map { ["If-Modified-Since": $0] } ?? [:]
    }
}

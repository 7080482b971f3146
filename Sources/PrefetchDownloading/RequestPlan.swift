internal import Foundation
internal import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// What to request from a server.
enum RequestPlan: Equatable, Sendable {
    /// The whole content.
    case whole
    /// The content, unless the cache already has the server's version.
    case newer(than: Validator)
    /// What follows the bytes of the partial, or the whole content if the server has another version.
    case rest(of: ResumablePartial, condition: String)
    /// Confirmation that the partial, which has all bytes, is still the current version.
    case confirmation(of: ResumablePartial)

    /// - Parameters:
    ///   - cached: The validator of the cached item, if it is to be revalidated.
    ///   - expectedLength: The length that the caller expects, in bytes.
    init(partial: ResumablePartial?, cached: Validator?, expectedLength: Int64?) {
        if let partial, partial.contentBytes > 0,
            // The validator was strong: otherwise no partial would have been kept.
            let condition = partial.metadata.validator.rangeCondition(
                now: partial.metadata.storedAt / 1000),
            expectedLength == nil || partial.expectedLength == nil || expectedLength == partial.expectedLength
        {
            self =
                partial.contentBytes == partial.expectedLength
                ? .confirmation(of: partial) : .rest(of: partial, condition: condition)
        } else if let cached, !cached.isEmpty {
            self = .newer(than: cached)
        } else {
            self = .whole
        }
    }

    /// The headers of the request; `nil` removes a header set by the caller.
    ///
    /// - Parameter acceptsEncoded: Whether the whole content may be encoded for the transfer.
    func headers(acceptsEncoded: Bool) -> [(name: String, value: String?)] {
        var headers: [String: String] = [:]
        switch self {
        case .whole: break
        case .newer(let validator): headers = validator.unlessUnchanged
        case .confirmation(let partial): headers = partial.metadata.validator.unlessUnchanged
        case .rest(let partial, let condition):
            headers = ["Range": "bytes=\(partial.contentBytes)-", "If-Range": condition]
        }
        headers["Accept-Encoding"] = acceptsEncoded && mayBeEncoded ? ContentCoding.offer : "identity"
        let names = [
            "Accept-Encoding", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match",
            "If-Unmodified-Since",
        ]
        return names.map { ($0, headers[$0]) }
    }

    /// Whether the response may be encoded: a range of an encoded response is none of the content.
    fileprivate var mayBeEncoded: Bool {
        switch self {
        case .whole, .newer: true
        case .rest, .confirmation: false
        }
    }

    /// The length of the plan's partial, in bytes of content.
    var keptBytes: Int64 {
        switch self {
        case .whole, .newer: 0
        case .rest(let partial, _), .confirmation(let partial): partial.contentBytes
        }
    }
}

extension URLRequest {
    /// Makes this the request of a plan.
    mutating func prepare(for plan: RequestPlan, acceptsEncoded: Bool = false) {
        // Each change copies the request.
        if httpMethod != "GET" { httpMethod = "GET" }
        if httpBody != nil { httpBody = nil }
        for (name, value) in plan.headers(acceptsEncoded: acceptsEncoded)
        where self.value(forHTTPHeaderField: name) != value {
            setValue(value, forHTTPHeaderField: name)
        }
    }

    /// Sets the `User-Agent`, unless the caller has.
    mutating func introduce(as userAgent: String?) {
        guard let userAgent, value(forHTTPHeaderField: "User-Agent") == nil else { return }
        setValue(userAgent, forHTTPHeaderField: "User-Agent")
    }
}

/// What to do with a response, decided before its body is read.
enum ResponsePlan: Equatable, Sendable {
    /// Store the body from the start, decoded; `length` is the content's length in bytes, if known.
    case store(length: Int64?, encoding: ContentCoding?)
    /// Append the body to the partial, which completes the content of `total` bytes.
    case append(total: Int64)
    /// The cache has this version.
    case notModified
    /// The partial has all bytes of this version.
    case complete(ResumablePartial)
    /// The partial is outdated: request the whole content.
    case restart
    case fail(DownloadError.Reason)

    /// - Parameters:
    ///   - acceptsEncoded: Whether the request offered to take an encoded body, if its plan allowed that.
    ///   - now: Seconds since 1970.
    init(
        _ head: ResponseHead, isSecure: Bool, to plan: RequestPlan, acceptsEncoded: Bool = false,
        expecting expected: Expectations, now: Int64
    ) {
        switch (head.status, plan) {
        case (200, _), (206, _):
            if let encoding = head.encoding {
                guard head.status == 200, acceptsEncoded, plan.mayBeEncoded, let coding = head.decodableCoding
                else {
                    self = .fail(.encoded(encoding))
                    return
                }
                self = Self.whole(head, encoding: coding, isSecure: isSecure, expecting: expected)
            } else if head.status == 200 {
                self = Self.whole(head, encoding: nil, isSecure: isSecure, expecting: expected)
            } else {
                self = Self.rest(head, plan, expectedLength: expected.length)
            }
        case (304, .newer): self = .notModified
        case (304, .confirmation(let partial)): self = .complete(partial)
        case (416, .rest): self = .restart
        default:
            self = .fail(.status(head.status, retryAfter: head.retryAfter(now: now)))
        }
    }

    private static func whole(
        _ head: ResponseHead, encoding: ContentCoding?, isSecure: Bool, expecting expected: Expectations
    ) -> ResponsePlan {
        // A malformed length must not be treated as a missing one.
        if head.hasMalformedLength { return .fail(.connection(.malformed)) }
        // That of an encoded body is not that of the content.
        let announced = encoding == nil ? head.contentLength : nil
        if let expected = expected.length, let length = announced, length != expected {
            return .fail(.wrongLength(expected: expected, actual: length))
        }
        guard head.marksEnd(isSecure: isSecure) || expected.length != nil || expected.digest != nil else {
            return .fail(.undelimitedBody)
        }
        return .store(length: announced ?? expected.length, encoding: encoding)
    }

    private static func rest(
        _ head: ResponseHead, _ plan: RequestPlan, expectedLength: Int64?
    ) -> ResponsePlan {
        guard case .rest(let partial, let condition) = plan, let range = head.contentRange,
            range.bytes.lowerBound == partial.contentBytes, range.bytes.upperBound == range.total,
            head.contentLength == nil || head.contentLength == range.total - partial.contentBytes
        else { return .fail(.wrongRange(head["content-range"] ?? "none")) }
        let total = range.total
        if let length = partial.expectedLength, length != total { return .restart }
        // A server that supports `Range` but not `If-Range` ignores the version.
        guard head.isOfTheVersion(condition, of: partial.metadata.validator) else { return .restart }
        if let expectedLength, total != expectedLength {
            return .fail(.wrongLength(expected: expectedLength, actual: total))
        }
        return .append(total: total)
    }
}

extension ResponseHead {
    /// Whether a 206 response is of the requested version. It must repeat a requested entity tag (RFC 9110, section
    /// 15.3.7), but may omit the date.
    func isOfTheVersion(_ condition: String, of validator: Validator) -> Bool {
        if condition.hasPrefix("\"") { return entityTag?.text == condition }
        // The tag of an encoded response is often weak, and strong without the encoding.
        if let tag = entityTag, let known = validator.entityTag.flatMap(EntityTag.init),
            !tag.isSimilar(to: known)
        {
            return false
        }
        return self["last-modified"].map { $0.trimmed == condition } ?? true
    }
}

extension Validator {
    /// The condition for revalidation. With `If-None-Match`, servers ignore `If-Modified-Since`, so only one is sent.
    fileprivate var unlessUnchanged: [String: String] {
        if let entityTag { return ["If-None-Match": entityTag] }
        return lastModified.map { ["If-Modified-Since": $0] } ?? [:]
    }
}

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
    /// What follows the bytes that are here, or the whole content if the server has another version.
    case rest(Rest)

    /// What follows the first bytes of a version.
    struct Rest: Equatable, Sendable {
        /// How many bytes are here.
        let offset: Int64
        /// The version that they are of.
        let validator: Validator
        /// The length of the whole content, if known.
        let total: Int64?
        /// For `If-Range`; `nil` if the content is verified by its digest.
        let condition: String?
    }

    /// - Parameters:
    ///   - validator: That of what is here, if the server may have something newer.
    ///   - expectedLength: The length that the caller expects, in bytes.
    init(partial: ResumablePartial?, present validator: Validator?, expectedLength: Int64?) {
        if let partial, partial.contentBytes > 0, partial.contentBytes < partial.expectedLength ?? .max,
            // The validator was strong: otherwise no partial would have been kept.
            let condition = partial.metadata.validator.rangeCondition,
            expectedLength == nil || partial.expectedLength == nil || expectedLength == partial.expectedLength
        {
            self = .rest(
                Rest(
                    offset: partial.contentBytes, validator: partial.metadata.validator,
                    total: partial.expectedLength, condition: condition))
        } else if let validator, !validator.isEmpty {
            self = .newer(than: validator)
        } else {
            self = .whole
        }
    }

    /// The headers of the request; `nil` removes a header set by the caller.
    ///
    /// - Parameter acceptsEncoded: Whether the whole content may be encoded for the transfer.
    func headers(acceptsEncoded: Bool) -> [(name: String, value: String?)] {
        var headers = ["Accept-Encoding": acceptsEncoded ? ContentCoding.offer : "identity"]
        switch self {
        case .whole: break
        case .newer(let validator):
            headers["If-None-Match"] = validator.entityTag
            // With a tag, servers ignore the date, unless the tag is not as it should be.
            if validator.entityTag.flatMap(EntityTag.init) == nil {
                headers["If-Modified-Since"] = validator.lastModified
            }
        case .rest(let rest):
            headers["Range"] = "bytes=\(rest.offset)-"
            headers["If-Range"] = rest.condition
            // A range of an encoded response is none of the content.
            headers["Accept-Encoding"] = "identity"
        }
        let names = [
            "Accept-Encoding", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match",
            "If-Unmodified-Since",
        ]
        return names.map { ($0, headers[$0]) }
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

    /// Sets the `User-Agent`, unless the caller has, and restricts the request to networks, of whose kind only Apple's systems
    /// know. What its creator forbade stays forbidden.
    mutating func introduce(as userAgent: String?, under conditions: DownloadConditions) {
        if let userAgent, value(forHTTPHeaderField: "User-Agent") == nil {
            setValue(userAgent, forHTTPHeaderField: "User-Agent")
        }
        #if canImport(Darwin)
            if conditions.contains(.unconstrainedNetwork) { allowsConstrainedNetworkAccess = false }
            if conditions.contains(.unexpensiveNetwork) { allowsExpensiveNetworkAccess = false }
        #endif
    }
}

/// What to do with a response, decided before its body is read.
enum ResponsePlan: Equatable, Sendable {
    /// Store the body from the start, decoded if it is `gzip`; `length` is the content's length in bytes, if known.
    case store(length: Int64?, isEncoded: Bool)
    /// Append the body to what is here, which completes the content of `total` bytes.
    case append(total: Int64)
    /// The cache has this version.
    case notModified
    /// What is here cannot be continued with this: request the whole content.
    case restart
    case fail(DownloadError.Reason)

    init(
        _ head: ResponseHead, isSecure: Bool, to plan: RequestPlan, in context: BodyContext = BodyContext(),
        expecting expected: Expectations
    ) {
        if [200, 206].contains(head.status), let type = expected.unwelcomeType(of: head) {
            self = .fail(.wrongMediaType(type))
            return
        }
        var rest: RequestPlan.Rest?
        if case .rest(let asked) = plan { rest = asked }
        switch head.status {
        case 200, 206:
            do {
                let isEncoded = try head.isToBeDecoded(context)
                self =
                    head.status == 200
                    ? Self.whole(head, isEncoded: isEncoded, isSecure: isSecure, expecting: expected)
                    : Self.part(head, rest, isEncoded: isEncoded, expectedLength: expected.length)
            } catch {
                self = head.status == 206 && rest != nil ? .restart : .fail(error)
            }
        case 304:
            if case .newer = plan { self = .notModified } else { fallthrough }
        default:
            // It may be the range, or its condition, that the server does not take.
            let mayBeOfTheRange =
                rest != nil && !head.failure.isTransient && ![401, 404, 407, 410].contains(head.status)
            self = mayBeOfTheRange ? .restart : .fail(head.failure)
        }
    }

    private static func whole(
        _ head: ResponseHead, isEncoded: Bool, isSecure: Bool, expecting expected: Expectations
    ) -> ResponsePlan {
        // A malformed length must not be treated as a missing one.
        if head.hasMalformedLength { return .fail(.connection(.malformed)) }
        // That of an encoded body is not that of the content.
        let announced = isEncoded ? nil : head.contentLength
        if let expected = expected.length, let length = announced, length != expected {
            return .fail(.wrongLength(expected: expected, actual: length))
        }
        guard head.marksEnd(isSecure: isSecure) || expected.length != nil || expected.digest != nil else {
            return .fail(.undelimitedBody)
        }
        return .store(length: announced ?? expected.length, isEncoded: isEncoded)
    }

    /// Some servers and proxies send a part that begins elsewhere, all of it as a part, or a part unasked.
    private static func part(
        _ head: ResponseHead, _ rest: RequestPlan.Rest?, isEncoded: Bool, expectedLength: Int64?
    ) -> ResponsePlan {
        let unfit: ResponsePlan =
            rest == nil ? .fail(.wrongRange(head["content-range"] ?? "none")) : .restart
        guard !isEncoded, let range = head.contentRange, range.bytes.upperBound == range.total,
            head.contentLength == nil || head.contentLength == Int64(range.bytes.count)
        else { return unfit }
        let (start, total) = (range.bytes.lowerBound, range.total)
        // A server that supports `Range` but not `If-Range` ignores the version.
        if start > 0, start != rest?.offset || rest?.total ?? total != total || !head.isOfVersion(of: rest) {
            return unfit
        }
        if let expectedLength, total != expectedLength {
            return .fail(.wrongLength(expected: expectedLength, actual: total))
        }
        return start > 0 ? .append(total: total) : .store(length: total, isEncoded: false)
    }

    /// The length of whole content that is stored as it is sent; `nil` if it is unknown.
    ///
    /// - Throws: Why there is none.
    func lengthAsSent(_ head: ResponseHead) throws(DownloadError.Reason) -> Int64? {
        switch self {
        case .store(let length, false): return length
        case .store(_, true): throw .encoded(head.encoding ?? "")
        case .fail(let reason): throw reason
        // Only for plans that are not for the whole.
        case .append, .restart, .notModified: throw .partialLost
        }
    }
}

extension ResponseHead {
    /// The failure that the status is.
    var failure: DownloadError.Reason { .status(status, retryAfter: retryAfter) }

    /// Whether a 206 response is of the version of what is here. It must repeat a requested entity tag (RFC 9110, section
    /// 15.3.7), but may omit the date.
    fileprivate func isOfVersion(of rest: RequestPlan.Rest?) -> Bool {
        guard let rest else { return false }
        if let condition = rest.condition, condition.hasPrefix("\"") { return entityTag?.text == condition }
        // The tag of an encoded response is often weak, and strong without the encoding.
        if let tag = entityTag, let known = rest.validator.entityTag.flatMap(EntityTag.init),
            !tag.isSimilar(to: known)
        {
            return false
        }
        guard let date = self["last-modified"], let known = rest.validator.lastModified else { return true }
        return date.trimmed == known
    }
}

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
    ///   - present: What is here, if the server may have something newer.
    ///   - expectedLength: The length that the caller expects, in bytes.
    init(partial: ResumablePartial?, present: PresentContent?, expectedLength: Int64?) {
        if let partial, partial.contentBytes > 0,
            // The validator was strong: otherwise no partial would have been kept.
            let condition = partial.metadata.validator.rangeCondition,
            expectedLength == nil || partial.expectedLength == nil || expectedLength == partial.expectedLength
        {
            self =
                partial.contentBytes == partial.expectedLength
                ? .confirmation(of: partial) : .rest(of: partial, condition: condition)
        } else if let present, !present.validator.isEmpty {
            self = .newer(than: present.validator)
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
        case .confirmation(let partial):
            var validator = partial.metadata.validator
            // One that is none was not what the partial was kept for.
            validator.entityTag = validator.entityTag.flatMap(EntityTag.init)?.text
            headers = validator.unlessUnchanged
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

    /// Restricts the request to networks, of whose kind only Apple's systems know. What its creator forbade stays forbidden.
    mutating func restrict(to conditions: DownloadConditions) {
        #if canImport(Darwin)
            if conditions.contains(.unconstrainedNetwork) { allowsConstrainedNetworkAccess = false }
            if conditions.contains(.unexpensiveNetwork) { allowsExpensiveNetworkAccess = false }
        #endif
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
    /// The partial cannot be continued with this: request the whole content.
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
        switch (head.status, plan) {
        case (200, _), (206, _):
            do {
                let coding = try head.codingToUndo(context)
                self =
                    head.status == 200
                    ? Self.whole(head, encoding: coding, isSecure: isSecure, expecting: expected)
                    : Self.part(head, plan, isEncoded: coding != nil, expectedLength: expected.length)
            } catch {
                self = head.status == 206 && plan.keptBytes > 0 ? .restart : .fail(error)
            }
        case (304, .newer): self = .notModified
        case (304, .confirmation(let partial)): self = .complete(partial)
        case (_, .rest), (_, .confirmation):
            let reason = head.failure
            self = reason.mayBeOfTheRange ? .restart : .fail(reason)
        default: self = .fail(head.failure)
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

    /// Some servers and proxies send a part that begins elsewhere, all of it as a part, or a part unasked.
    private static func part(
        _ head: ResponseHead, _ plan: RequestPlan, isEncoded: Bool, expectedLength: Int64?
    ) -> ResponsePlan {
        let isRest = plan.keptBytes > 0
        guard !isEncoded, let range = head.contentRange, range.bytes.upperBound == range.total,
            head.contentLength == nil || head.contentLength == Int64(range.bytes.count)
        else { return isRest ? .restart : .fail(.wrongRange(head["content-range"] ?? "none")) }
        let total = range.total
        if range.bytes.lowerBound > 0 {
            guard case .rest(let partial, let condition) = plan,
                range.bytes.lowerBound == partial.contentBytes,
                partial.expectedLength == nil || partial.expectedLength == total,
                // A server that supports `Range` but not `If-Range` ignores the version.
                head.isOfTheVersion(condition, of: partial.metadata.validator)
            else { return isRest ? .restart : .fail(.wrongRange(head["content-range"] ?? "none")) }
        }
        if let expectedLength, total != expectedLength {
            return .fail(.wrongLength(expected: expectedLength, actual: total))
        }
        return range.bytes.lowerBound > 0 ? .append(total: total) : .store(length: total, encoding: nil)
    }
}

extension DownloadError.Reason {
    /// Whether it may be the range, or its condition, that the server does not take.
    var mayBeOfTheRange: Bool {
        if case .status(let status, _) = self {
            !isTransient && ![401, 404, 407, 410].contains(status)
        } else {
            false
        }
    }
}

extension ResponseHead {
    /// The failure that the status is.
    var failure: DownloadError.Reason { .status(status, retryAfter: retryAfter) }

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
    /// The condition for revalidation: what the server sent, verbatim. With `If-None-Match`, servers ignore
    /// `If-Modified-Since`, so only one is sent, unless the tag is not as it should be.
    fileprivate var unlessUnchanged: [String: String] {
        var headers: [String: String] = [:]
        headers["If-None-Match"] = entityTag
        if entityTag.flatMap(EntityTag.init) == nil { headers["If-Modified-Since"] = lastModified }
        return headers
    }
}

public import Foundation

/// A file as a server that knows its trade serves it, with ranges and conditions (RFC 9110, sections 13 and 14).
public struct TestResource: Sendable {
    public var content: Data
    public var entityTag: String?
    public var lastModified: String?
    public var takesRanges = true
    /// The content encoded, by the name of the encoding: for requests that accept it, and are for no range.
    public var encoded: (name: String, body: Data)?

    public init(_ content: Data, entityTag: String? = "\"1\"", lastModified: String? = nil) {
        self.content = content
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    public func answer(to request: TestRequest) -> TestAnswer {
        var headers: [String: String] = [:]
        headers["ETag"] = entityTag
        headers["Last-Modified"] = lastModified
        if let tag = request.headers["if-none-match"] {
            if tag.hasSuffix(entityTag ?? "none") { return TestAnswer(304, headers) }
        } else if let date = request.headers["if-modified-since"], date == lastModified {
            return TestAnswer(304, headers)
        }
        if let encoded, request.rangeStart == nil,
            request.headers["accept-encoding"]?.contains(encoded.name) == true
        {
            // As nginx does: another representation has another tag.
            headers["ETag"] = entityTag.map { "W/\($0)" }
            headers["Content-Encoding"] = encoded.name
            return TestAnswer(200, headers, body: encoded.body)
        }
        guard takesRanges, let start = request.rangeStart, isSame(request.headers["if-range"]) else {
            return TestAnswer(200, headers, body: content)
        }
        guard start < content.count else {
            return TestAnswer(416, headers.merging(["Content-Range": "bytes */\(content.count)"]) { $1 })
        }
        headers["Content-Range"] = "bytes \(start)-\(content.count - 1)/\(content.count)"
        return TestAnswer(206, headers, body: content.dropFirst(start))
    }

    private func isSame(_ condition: String?) -> Bool {
        guard let condition else { return true }
        return condition == (condition.hasPrefix("\"") ? entityTag : lastModified)
    }
}

public import Foundation

/// A request as it came.
public struct TestRequest: Sendable {
    public let method: String
    /// The path and the query, as they were sent.
    public let target: String
    /// Values by lower-case names.
    public let headers: [String: String]

    init?(_ head: String) {
        var lines = head.components(separatedBy: "\r\n")
        let words = lines.removeFirst().split(separator: " ")
        guard words.count == 3 else { return nil }
        method = String(words[0])
        target = String(words[1])
        headers = Dictionary(
            lines.compactMap { line in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                return (line[..<colon].lowercased(), value)
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The first byte of a range that is open at its end.
    public var rangeStart: Int? {
        guard let range = headers["range"], range.hasPrefix("bytes="), range.hasSuffix("-") else {
            return nil
        }
        return Int(range.dropFirst(6).dropLast())
    }
}

extension Date {
    /// The date as HTTP writes it.
    public var inHTTP: String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: self)
    }
}

/// An answer, and how it ends.
public struct TestAnswer: Sendable {
    public enum Ending: Sendable {
        /// The connection serves the next request.
        case complete
        /// The connection is closed.
        case drop
        /// Nothing comes any more.
        case stall
    }

    public var status: Int
    public var headers: [String: String]
    /// The part of the body that is sent.
    public var sentBody: Data
    /// What `Content-Length` says; `nil` for no such header, and a body that ends with its connection.
    public var announcedLength: Int?
    public var ending = Ending.complete
    /// Whether the answer says when it was sent, unless `headers` do.
    public var isDated = true
    /// Whether nothing is said at all.
    public var isSilent = false
    /// What is sent in place of the head and the body.
    private var raw: Data?
    /// Where the server does something before it goes on.
    var interlude: (offset: Int, body: @Sendable () -> Void)?

    public init(_ status: Int = 200, _ headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        sentBody = body
        announcedLength = body.count
    }

    /// Sends bytes as they are, and closes the connection.
    public static func raw(_ bytes: Data) -> TestAnswer {
        var answer = TestAnswer()
        answer.raw = bytes
        answer.ending = .drop
        return answer
    }

    /// Sends only the first bytes of the body.
    public func cut(after count: Int, _ ending: Ending = .drop) -> TestAnswer {
        var answer = self
        answer.sentBody = sentBody.prefix(count)
        answer.ending = ending
        return answer
    }

    /// Does something after that many bytes of the body, and then goes on.
    public func after(_ count: Int, _ body: @escaping @Sendable () -> Void) -> TestAnswer {
        var answer = self
        answer.interlude = (count, body)
        return answer
    }

    public func with(_ headers: [String: String]) -> TestAnswer {
        var answer = self
        answer.headers.merge(headers) { $1 }
        return answer
    }

    var head: Data {
        if isSilent { return Data() }
        if let raw { return raw }
        var lines = ["HTTP/1.1 \(status) Status"]
        lines += headers.map { "\($0): \($1)" }
        if isDated, headers["Date"] == nil { lines.append("Date: \(Date.now.inHTTP)") }
        if let announcedLength, status != 304 { lines.append("Content-Length: \(announcedLength)") }
        return Data((lines + ["", ""]).joined(separator: "\r\n").utf8)
    }
}

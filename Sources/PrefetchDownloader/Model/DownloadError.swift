public import PrefetchCache

/// Why a download failed.
///
/// Nothing of the URL but its origin is in it, and no header of the request.
public struct DownloadError: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// It has no host, or neither `http` nor `https`.
        case unsupportedURL
        case hostNotAllowed
        /// Plain `http` to another machine.
        case insecure
        case tooManyRedirects(limit: Int)
        /// A redirect to nowhere, or to where the downloader does not go.
        case redirect(to: String)
        /// The server's answer, when it is neither the content nor a redirect.
        case status(Int, retryAfter: Duration?)
        /// The connection was not made, or broke.
        case connection(TransferFailure)
        /// The server said nothing for that long.
        case stalled(Duration)
        /// The content ended early.
        case truncated(received: Int64, announced: Int64)
        /// More came than was announced.
        case tooLong(received: Int64, announced: Int64)
        /// The answer carries another range than the one that was asked for, or does not say which.
        case wrongRange(String)
        /// The content has another length than the one that was expected.
        case wrongLength(expected: Int64, actual: Int64)
        /// The content has another SHA-256 digest than the one that was expected.
        case wrongDigest(expected: [UInt8], actual: [UInt8])
        /// The server encoded the content though it was asked not to.
        case encoded(String)
        /// The partial went away while the server was asked for the rest.
        case partialGone
        case cache(CacheError)
    }

    public let key: ItemKey
    /// Scheme, host and port.
    public let origin: String
    public let reason: Reason
    /// Bytes that are kept, after which a later download of the key goes on.
    public internal(set) var keptLength: Int64 = 0

    init(key: ItemKey, origin: String, _ reason: Reason) {
        self.key = key
        self.origin = origin
        self.reason = reason
    }
}

/// Why a connection was not made, or broke.
public enum TransferFailure: String, Error, Hashable, Sendable {
    case cannotFindHost = "the host is not known"
    case cannotConnect = "the server cannot be reached"
    case connectionLost = "the connection broke"
    case timedOut = "the connection timed out"
    case offline = "this machine is not connected"
    case notTrusted = "the server's certificate is not trusted"
    case malformed = "the server's answer is not HTTP"
    case cancelled = "the transfer was cancelled"
    case other = "the transfer failed"
}

extension DownloadError: CustomStringConvertible {
    public var description: String {
        let kept =
            keptLength > 0 ? "; \(keptLength) bytes are kept, and a later download goes on after them" : ""
        return "'\(key)' from \(origin): \(reason)\(kept)"
    }
}

extension DownloadError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedURL: "the URL is not one of a server; give one with https and a host"
        case .hostNotAllowed: "the host is not allowed; add it to the configuration's hosts"
        case .insecure: "plain http to another machine is not allowed; use https, or opt in to it"
        case .tooManyRedirects(let limit): "the server redirected more than \(limit) times"
        case .redirect(let target): "the server redirected to \(target), which is not allowed"
        case .status(let status, nil): "the server answered \(status)"
        case .status(let status, let delay?):
            "the server answered \(status); try again after \(delay.components.seconds) seconds"
        case .connection(let failure): failure.rawValue
        case .stalled(let time): "the server said nothing for \(time.components.seconds) seconds"
        case .truncated(let received, let announced):
            "the content ended after \(received) of \(announced) bytes"
        case .tooLong(let received, let announced):
            "\(received) bytes came where \(announced) were announced"
        case .wrongRange(let range): "the answer's range is not the one that was asked for: \(range)"
        case .wrongLength(let expected, let actual):
            "the content has \(actual) bytes where \(expected) were expected"
        case .wrongDigest(let expected, let actual):
            "the content's SHA-256 is \(actual.hexadecimal) where \(expected.hexadecimal) was expected"
        case .encoded(let encoding):
            "the server sent the content encoded (\(encoding)) though it was asked not to"
        case .partialGone: "what was kept of the content went away meanwhile"
        case .cache(let error): error.description
        }
    }
}

extension [UInt8] {
    fileprivate var hexadecimal: String {
        map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }.joined()
    }
}

public import Foundation
public import PrefetchCaching

/// Why a download failed.
///
/// Contains no part of the URL except its origin, and no request headers.
public struct DownloadError: Error, Hashable, Sendable {
    /// The cause of a failure.
    public enum Reason: Error, Hashable, Sendable {
        /// The URL has no host, or a scheme other than `http` and `https`.
        case unsupportedURL
        /// The host is not in ``DownloaderConfiguration/hosts``.
        case hostNotAllowed
        /// Plain `http` to another machine, without ``DownloaderConfiguration/allowsInsecureHTTP``.
        case insecure
        /// The server redirected more often than the limit.
        case tooManyRedirects(limit: Int)
        /// A redirect without a target, or to one that is not allowed.
        case redirect(to: String)
        /// A status that is neither success nor a redirect, and the delay that the server requests, if any.
        case status(Int, retryAfter: Duration?)
        /// The connection failed or was lost.
        case connection(TransferFailure)
        /// The server sent nothing for this long, or less than 1 KiB/s.
        case stalled(Duration)
        /// The content ended early. Both numbers are bytes of content.
        case truncated(received: Int64, announced: Int64)
        /// The server sent more than was announced. Both numbers are bytes of content.
        case tooLong(received: Int64, announced: Int64)
        /// The response has a different range than requested, or none. Contains its `Content-Range` header.
        case wrongRange(String)
        /// The server says that what it sends is of this media type, which is not the expected one: see
        /// ``ContentExpectation/mediaType(_:)``.
        case wrongMediaType(String)
        /// The content's length, in bytes, differs from the expected one.
        case wrongLength(expected: Int64, actual: Int64)
        /// The content's SHA-256 digest differs from the expected one.
        case wrongDigest(expected: [UInt8], actual: [UInt8])
        /// The response does not mark the end of the content: it has no length, is not chunked, and ends with its
        /// connection, so that truncated content would look complete. Such content is stored only if its length or
        /// digest is expected, see ``ContentExpectation``.
        case undelimitedBody
        /// The server encoded the content although it was not offered this encoding, which is contained.
        case encoded(String)
        /// The server compressed the content for the transfer, and what it sent is damaged or ends early.
        case undecodable
        /// The server compressed the content for the transfer, to far less of it than is usual. Both numbers are bytes: what
        /// was received, and the content of that.
        case expandsTooFar(received: Int64, content: Int64)
        /// A file of a bundle, with this path in it, is not the version that the server had announced.
        case changed(String)
        /// The server does not say how long a file of a bundle is, with this path in it, so that no room can be reserved for
        /// the bundle.
        case unknownLength(String)
        /// The request is for a bundle, and a single file was handed over.
        case bundleRequest
        /// The partial disappeared or was found damaged while the download was resuming.
        case partialLost
        /// The cache failed.
        case cache(CacheError)
    }

    /// The key of the content.
    public let key: ItemKey
    /// The scheme, host and port of the URL.
    public let origin: String
    /// The cause of the failure.
    public let reason: Reason
    /// Bytes of content that are kept, after which a later download of the key resumes.
    public let keptBytes: Int64
}

/// Why a connection failed or was lost.
public enum TransferFailure: String, Error, Hashable, Sendable {
    /// The name of the host could not be resolved.
    case cannotFindHost = "the host name could not be resolved"
    /// The connection to the server could not be established.
    case cannotConnect = "the server cannot be reached"
    /// The connection was lost.
    case connectionLost = "the connection was lost"
    /// The connection timed out.
    case timedOut = "the connection timed out"
    /// This machine has no network connection.
    case offline = "this machine is offline"
    /// The network is expensive, which ``DownloadConditions`` exclude: reported as ``UnmetCondition``.
    case networkIsExpensive = "the network is expensive, which the request excludes"
    /// The network is in Low Data Mode, which ``DownloadConditions`` exclude: reported as ``UnmetCondition``.
    case networkIsConstrained = "the network is in Low Data Mode, which the request excludes"
    /// The server's certificate is not trusted, or no secure connection could be established.
    case notTrusted = "the server's certificate is not trusted"
    /// The server's response is not valid HTTP.
    case malformed = "the response is not valid HTTP"
    /// The transfer was cancelled.
    case cancelled = "the transfer was cancelled"
    /// Any other failure.
    case other = "the transfer failed"
}

extension DownloadError: CustomStringConvertible {
    public var description: String {
        let kept =
            keptBytes > 0 ? "; its first \(keptBytes) bytes are kept, for a later download" : ""
        return "'\(key)' from \(origin): \(reason)\(kept)"
    }
}

/// Many apps log `localizedDescription`. The text is for developers and not localized.
extension DownloadError: LocalizedError { public var errorDescription: String? { description } }

extension DownloadError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedURL: "the URL has no host, or is neither https nor http; use an https URL"
        case .hostNotAllowed: "the host is not allowed; add it to the configuration's hosts"
        case .insecure: "plain http to another machine is not allowed; use https, or set allowsInsecureHTTP"
        case .tooManyRedirects(let limit): "the server redirected more than \(limit) times"
        case .redirect(let target): "the server redirected to \(target), which is not allowed"
        case .status(let status, nil): "the server answered \(status)"
        case .status(let status, let delay?):
            "the server answered \(status); try again after \(delay.components.seconds) seconds"
        case .connection(let failure): failure.rawValue
        case .stalled(let time): "the server sent next to nothing for \(time.components.seconds) seconds"
        case .truncated(let received, let announced):
            "the content ended after \(received) of \(announced) bytes"
        case .tooLong(let received, let announced):
            "received \(received) bytes, but only \(announced) were announced"
        case .wrongRange(let range): "the response does not have the requested range: \(range)"
        case .wrongMediaType(let type):
            "the server sent \(type) in place of the content, perhaps a page with an error, or for the login to a network"
        case .wrongLength(let expected, let actual):
            "the content has \(actual) bytes, but \(expected) were expected"
        case .wrongDigest(let expected, let actual):
            "the content's \(expected.count == 32 ? "SHA-256" : "checksum") is \(actual.hexadecimal), but "
                + "\(expected.hexadecimal) was expected"
        case .undelimitedBody:
            "the response does not say where the content ends, so a truncated one would look complete; "
                + "specify the expected length or SHA-256"
        case .encoded(let encoding):
            "the server encoded the content (\(encoding)) although it was asked not to"
        case .undecodable: "the server compressed the content, and what it sent is damaged or ends early"
        case .expandsTooFar(let received, let content):
            "the server sent \(content) bytes compressed to \(received), which is far less than usual"
        case .changed(let path): "the server has another version of '\(path)' than it had announced"
        case .unknownLength(let path):
            "the server does not say how long '\(path)' is; specify the expected length"
        case .bundleRequest: "the request is for a bundle, which cannot be finished with a single file"
        case .partialLost: "the kept part of the content disappeared in the meantime"
        case .cache(let error): error.description
        }
    }
}

extension [UInt8] {
    var hexadecimal: String {
        map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }.joined()
    }
}

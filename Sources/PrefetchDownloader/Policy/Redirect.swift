#if canImport(FoundationNetworking)
    internal import Foundation
    internal import FoundationNetworking
#else
    internal import Foundation
#endif

/// Derives the next request from a response that redirects.
enum Redirect {
    static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// The request headers that another origin receives. All others are only for the server that the caller
    /// named: `Authorization`, `Cookie`, and custom headers that may be as secret.
    static let headersForAnybody: Set<String> = [
        "accept", "accept-encoding", "accept-language", "if-modified-since", "if-none-match", "if-range",
        "range", "user-agent",
    ]

    /// - Parameter location: The `Location` header.
    /// - Returns: The request to the target, without credentials if that is another origin.
    static func next(
        after request: URLRequest, to location: String?, _ configuration: DownloaderConfiguration
    ) throws(DownloadError.Reason) -> URLRequest {
        guard let location, let from = request.url,
            let target = URL(string: String(location.trimmed), relativeTo: from)?.absoluteURL,
            let origin = Origin(target)
        else { throw .redirect(to: "nowhere") }
        if configuration.problem(of: target) != nil { throw .redirect(to: origin.description) }
        let before = Origin(from)
        // A secure connection is never downgraded.
        if before?.scheme == "https", origin.scheme != "https" { throw .redirect(to: origin.description) }
        var next = request
        next.url = target
        guard origin != before else { return next }
        for name in (request.allHTTPHeaderFields ?? [:]).keys
        where !headersForAnybody.contains(name.lowercased()) {
            next.setValue(nil, forHTTPHeaderField: name)
        }
        return next
    }
}

#if canImport(FoundationNetworking)
    internal import Foundation
    internal import FoundationNetworking
#else
    internal import Foundation
#endif

/// The way from an answer that redirects to the next request.
enum Redirect {
    static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// What another origin is told of the headers of a request. All others are for the server that the caller
    /// meant: `Authorization` and `Cookie`, and headers of its own that are as secret.
    static let headersForAnybody: Set<String> = [
        "accept", "accept-encoding", "accept-language", "if-modified-since", "if-none-match", "if-range",
        "range", "user-agent",
    ]

    /// - Parameter location: The `Location` header.
    /// - Returns: The request to the new place, without credentials when that is another origin.
    static func next(
        after request: URLRequest, to location: String?, _ configuration: DownloaderConfiguration
    ) throws(DownloadError.Reason) -> URLRequest {
        guard let location, let from = request.url,
            let target = URL(string: String(location.trimmed), relativeTo: from)?.absoluteURL,
            let origin = Origin(target)
        else { throw .redirect(to: "nowhere") }
        if configuration.problem(of: target) != nil { throw .redirect(to: origin.description) }
        let before = Origin(from)
        // Who asked for a secure connection does not get another one.
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

extension DownloadError.Reason: Error {}

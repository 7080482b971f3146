internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The servers that may be contacted, including through redirects.
///
/// ```swift
/// configuration.hosts = ["media.example.org", "*.cdn.example.net"]
/// ```
public struct AllowedHosts: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// Any host. For programs whose user provides the URLs.
    public static let any = AllowedHosts(patterns: nil)

    /// `nil` for any host.
    private let patterns: Set<String>?

    private init(patterns: Set<String>?) {
        self.patterns = patterns
    }

    /// Creates a set of hosts.
    ///
    /// - Parameter hosts: Names or addresses. `*.example.org` matches all subdomains of `example.org`, but not
    ///   `example.org` itself.
    public init(_ hosts: some Sequence<String>) {
        self.init(
            patterns: Set(
                hosts.map { host in
                    host.hasPrefix("*.") ? "*.\(Self.plain(String(host.dropFirst(2))))" : Self.plain(host)
                }))
    }

    /// Creates a set of hosts, as ``init(_:)`` does.
    public init(arrayLiteral hosts: String...) {
        self.init(hosts)
    }

    /// Returns whether a host may be contacted. Case is ignored.
    public func contains(_ host: String) -> Bool {
        guard let patterns else { return true }
        let host = Self.plain(host)
        if patterns.contains(host) { return true }
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if patterns.contains("*.\(rest)") { return true }
        }
        return false
    }
}

extension AllowedHosts {
    /// The name as it is asked for: in lower case, and if it is not ASCII as `xn--…`.
    fileprivate static func plain(_ host: String) -> String {
        let host = host.lowercased()
        guard host.utf8.contains(where: { $0 >= 0x80 }) else { return host }
        return URL(asWritten: "http://\(host)/")?.host()?.lowercased() ?? host
    }
}

extension DownloaderConfiguration {
    /// Returns why a URL may not be requested, or `nil`.
    func problem(of url: URL?) -> DownloadError.Reason? {
        guard let origin = url.flatMap(Origin.init), ["http", "https"].contains(origin.scheme) else {
            return .unsupportedURL
        }
        guard hosts.contains(origin.host) else { return .hostNotAllowed }
        guard origin.scheme == "https" || origin.isLoopback || allowsInsecureHTTP else { return .insecure }
        return nil
    }
}

/// Derives the next request from a redirect response.
enum Redirect {
    static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// The request headers that are forwarded to another origin. All others, such as `Authorization`, `Cookie` and
    /// custom headers that may be secret, are sent only to the server that the caller named.
    static let crossOriginHeaders: Set<String> = [
        "accept", "accept-encoding", "accept-language", "if-modified-since", "if-none-match", "if-range",
        "range", "user-agent",
    ]

    /// - Parameter location: The `Location` header.
    /// - Returns: The request to the target, without credentials if the origin differs.
    static func next(
        after request: URLRequest, to location: String?, _ configuration: DownloaderConfiguration
    ) throws(DownloadError.Reason) -> URLRequest {
        guard let location, let from = request.url,
            let target = URL(asWritten: location.trimmed, relativeTo: from),
            let origin = Origin(target)
        else { throw .redirect(to: "nowhere") }
        try require(target, after: from, configuration)
        var next = request
        next.url = target
        guard origin != Origin(from) else { return next }
        for name in (request.allHTTPHeaderFields ?? [:]).keys
        where !crossOriginHeaders.contains(name.lowercased()) {
            next.setValue(nil, forHTTPHeaderField: name)
        }
        return next
    }
}

extension Redirect {
    /// Checks that a server may redirect from one URL to another. A secure connection is never downgraded.
    static func require(_ target: URL, after url: URL, _ configuration: DownloaderConfiguration)
        throws(DownloadError.Reason)
    {
        let isDowngrade = Origin(url)?.scheme == "https" && Origin(target)?.scheme != "https"
        if isDowngrade || configuration.problem(of: target) != nil {
            throw .redirect(to: Origin(target)?.description ?? "nowhere")
        }
    }
}

/// The scheme, host and port of a URL (RFC 6454). Logs and errors contain no other part of a URL, since the rest may be
/// secret.
struct Origin: Hashable, Sendable, CustomStringConvertible {
    let scheme: String
    let host: String
    let port: Int

    /// Returns `nil` for a URL without a scheme or a host.
    init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), var host = url.host()?.lowercased(), !host.isEmpty else {
            return nil
        }
        // Of a name that was given in other letters, `URL` tells codes, and asks for `xn--…`.
        if host.contains("%") { host = URL(string: url.absoluteString)?.host()?.lowercased() ?? host }
        self.scheme = scheme
        self.host = host
        self.port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// Whether the host is this machine: `localhost`, `::1`, or an address in 127.0.0.0/8 in dotted-decimal notation.
    var isLoopback: Bool {
        if ["localhost", "::1", "[::1]"].contains(host) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    var description: String {
        let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let isUsual = port == (scheme == "https" ? 443 : 80)
        return isUsual ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}

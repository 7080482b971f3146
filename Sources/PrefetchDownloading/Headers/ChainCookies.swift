internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The cookies that servers set while one request is redirected, sent to the following servers of the chain as RFC 6265 says, and
/// then forgotten: consent walls and load balancers redirect to where they were until they see theirs.
///
/// Without a list of public suffixes, as whoever redirects can hand anything to the next server by the URL itself.
struct ChainCookies {
    private struct Cookie {
        let name: String
        let value: String
        let domain: String
        let isForSubdomains: Bool
        let path: String
        let isSecure: Bool
    }

    /// What curl takes, too.
    private static let longest = 4096
    private static let most = 50

    private var cookies: [Cookie] = []

    /// Notes what a response sets.
    ///
    /// - Parameter now: Seconds since 1970.
    mutating func take(from head: ResponseHead, at url: URL?, now: Int64) {
        guard let url, let origin = Origin(url) else { return }
        for line in head.cookies where line.utf8.count <= Self.longest { take(line, from: origin, url, now) }
    }

    private mutating func take(_ line: String, from origin: Origin, _ url: URL, _ now: Int64) {
        let fields = line.split(separator: ";", omittingEmptySubsequences: false).map(Self.pair)
        guard let (name, value) = fields.first, let value, !name.isEmpty else { return }
        // The last one of a name counts.
        let attributes = Dictionary(fields.dropFirst().map { ($0.lowercased(), $1 ?? "") }) { $1 }
        var domain = origin.host
        if let given = attributes["domain"]?.lowercased(), !given.isEmpty {
            let given = given.hasPrefix(".") ? String(given.dropFirst()) : given
            guard Self.matches(domain, given), given.contains(".") || given == domain else { return }
            domain = given
        }
        var path = attributes["path"] ?? ""
        if !path.hasPrefix("/") {
            path = url.path(percentEncoded: true)
            path = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
            if path.isEmpty { path = "/" }
        }
        let isSecure = attributes["secure"] != nil
        guard !isSecure || Self.isSecure(origin) else { return }
        if name.hasPrefix("__Secure-"), !isSecure { return }
        if name.hasPrefix("__Host-"), !isSecure || path != "/" || attributes["domain"] != nil { return }
        cookies.removeAll { $0.name == name && $0.domain == domain && $0.path == path }
        guard !Self.isOver(attributes, now), cookies.count < Self.most else { return }
        cookies.append(
            Cookie(
                name: name, value: value, domain: domain,
                isForSubdomains: attributes["domain"]?.isEmpty == false,
                path: path, isSecure: isSecure))
    }

    private static func pair(_ field: Substring) -> (name: String, value: String?) {
        guard let equals = field.firstIndex(of: "=") else { return (field.trimmed, nil) }
        return (field[..<equals].trimmed, field[field.index(after: equals)...].trimmed)
    }

    private static func isOver(_ attributes: [String: String], _ now: Int64) -> Bool {
        if let age = attributes["max-age"] { return age == "0" || age.hasPrefix("-") }
        // Most dates of cookies have dashes.
        let date = attributes["expires"].flatMap {
            HTTPDate.parse($0, now: now) ?? HTTPDate.parse($0.replacing("-", with: " "), now: now)
        }
        return date.map { $0 <= now } ?? false
    }

    private static func matches(_ host: String, _ domain: String) -> Bool {
        host == domain || host.hasSuffix(".\(domain)") && host.last?.isNumber == false
    }

    /// What stays on this machine is secure, as for curl and browsers.
    private static func isSecure(_ origin: Origin) -> Bool { origin.scheme == "https" || origin.isLoopback }

    /// The request with those cookies that its URL may have, beside the caller's own.
    func added(to request: URLRequest) -> URLRequest {
        guard !cookies.isEmpty, let url = request.url, let origin = Origin(url) else { return request }
        var path = url.path(percentEncoded: true)
        if path.isEmpty { path = "/" }
        let sent = cookies.filter { cookie in
            let isBelow =
                path == cookie.path
                || path.hasPrefix(cookie.path.hasSuffix("/") ? cookie.path : cookie.path + "/")
            let isThere =
                cookie.isForSubdomains
                ? Self.matches(origin.host, cookie.domain) : origin.host == cookie.domain
            return isBelow && isThere && (!cookie.isSecure || Self.isSecure(origin))
        }
        guard !sent.isEmpty else { return request }
        let own = (request.value(forHTTPHeaderField: "Cookie") ?? "").split(separator: ";").map(\.trimmed)
            .filter { pair in !sent.contains { pair.hasPrefix("\($0.name)=") } }
        // Of two of one name the server takes the first: the one that was set for the longer path.
        let longestFirst = sent.enumerated().sorted {
            ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
        }
        var request = request
        request.setValue(
            (own + longestFirst.map { "\($0.element.name)=\($0.element.value)" }).joined(separator: "; "),
            forHTTPHeaderField: "Cookie")
        return request
    }
}

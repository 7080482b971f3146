internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The cookies that servers set while one request is redirected, sent to those of the following servers that they are for, and
/// then forgotten: consent walls and load balancers redirect to where they were until they see theirs.
///
/// Without paths, dates and a list of public suffixes, as whoever redirects can hand anything to the next server by the URL
/// itself.
struct ChainCookies {
    private struct Cookie {
        let name: String
        let value: String
        let domain: String
        let isForSubdomains: Bool
        let isSecure: Bool

        func isFor(_ origin: Origin) -> Bool {
            (isForSubdomains ? matches(origin.host, domain) : origin.host == domain)
                && (!isSecure || ChainCookies.isSecure(origin))
        }
    }

    /// What curl takes, too.
    private static let longest = 4096
    private static let most = 50

    private var cookies: [Cookie] = []

    /// Notes what a response sets.
    mutating func take(from head: ResponseHead, at url: URL?) {
        guard let origin = url.flatMap(Origin.init) else { return }
        for line in head.cookies where line.utf8.count <= Self.longest { take(line, from: origin) }
    }

    private mutating func take(_ line: String, from origin: Origin) {
        let fields = line.split(separator: ";", omittingEmptySubsequences: false).map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: parts[0].trimmed, value: parts.count > 1 ? parts[1].trimmed : nil)
        }
        guard let (name, value) = fields.first, let value, !name.isEmpty else { return }
        // The last one of a name counts.
        let attributes = Dictionary(fields.dropFirst().map { ($0.lowercased(), $1 ?? "") }) { $1 }
        var domain = attributes["domain"]?.lowercased() ?? ""
        if domain.hasPrefix(".") { domain.removeFirst() }
        let isForSubdomains = !domain.isEmpty
        if domain.isEmpty { domain = origin.host }
        let isSecure = attributes["secure"] != nil
        guard matches(origin.host, domain), domain.contains(".") || domain == origin.host,
            !isSecure || Self.isSecure(origin)
        else { return }
        cookies.removeAll { $0.name == name && $0.domain == domain }
        let age = attributes["max-age"] ?? ""
        guard age != "0", !age.hasPrefix("-"), cookies.count < Self.most else { return }
        cookies.append(
            Cookie(
                name: name, value: value, domain: domain, isForSubdomains: isForSubdomains, isSecure: isSecure
            ))
    }

    /// What stays on this machine is secure, as for curl and browsers.
    private static func isSecure(_ origin: Origin) -> Bool { origin.scheme == "https" || origin.isLoopback }

    /// The request with those cookies that its URL may have, beside the caller's own.
    func added(to request: URLRequest) -> URLRequest {
        let origin = request.url.flatMap(Origin.init)
        let sent = cookies.filter { cookie in origin.map(cookie.isFor) ?? false }
        guard !sent.isEmpty else { return request }
        let own = (request.value(forHTTPHeaderField: "Cookie") ?? "").split(separator: ";").map(\.trimmed)
            .filter { pair in !sent.contains { pair.hasPrefix("\($0.name)=") } }
        var request = request
        request.setValue(
            (own + sent.map { "\($0.name)=\($0.value)" }).joined(separator: "; "),
            forHTTPHeaderField: "Cookie")
        return request
    }
}

/// Whether a host is one of a domain. An address is one of itself alone.
private func matches(_ host: String, _ domain: String) -> Bool {
    host == domain || host.hasSuffix(".\(domain)") && host.last?.isNumber == false
}

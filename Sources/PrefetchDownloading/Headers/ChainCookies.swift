internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The cookies that servers set while one request is redirected, each sent back to its host further along the chain, and then
/// forgotten: consent walls and load balancers redirect to where they were until they see theirs.
///
/// Their attributes are ignored: a chain is over before a cookie is, never goes from `https` to `http`, and is led by the same
/// servers.
struct ChainCookies {
    /// What curl takes, too.
    private static let longest = 4096
    private static let most = 50

    private var cookies: [(host: String, name: String, value: String)] = []

    /// Notes what a response sets.
    mutating func take(from head: ResponseHead, at url: URL?) {
        guard let host = url.flatMap(Origin.init)?.host else { return }
        for line in head.cookies where line.utf8.count <= Self.longest {
            let parts = line.prefix { $0 != ";" }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].trimmed.isEmpty else { continue }
            let name = parts[0].trimmed
            cookies.removeAll { $0.host == host && $0.name == name }
            if cookies.count < Self.most { cookies.append((host, name, parts[1].trimmed)) }
        }
    }

    /// The request with the cookies of its host, beside the caller's own.
    func added(to request: URLRequest) -> URLRequest {
        let host = request.url.flatMap(Origin.init)?.host
        let sent = cookies.filter { $0.host == host }
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

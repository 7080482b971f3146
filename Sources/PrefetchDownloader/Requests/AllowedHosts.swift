/// The servers that may be contacted, also by redirects.
///
/// ```swift
/// configuration.hosts = ["media.example.org", "*.cdn.example.net"]
/// ```
public struct AllowedHosts: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// Any host, for a program whose user provides the URLs.
    public static let any = AllowedHosts(patterns: [], isAny: true)

    private let patterns: Set<String>
    private let isAny: Bool

    private init(patterns: Set<String>, isAny: Bool) {
        self.patterns = patterns
        self.isAny = isAny
    }

    /// Creates a set of hosts.
    ///
    /// - Parameter hosts: Names or addresses. `*.example.org` stands for all hosts below `example.org`, but
    ///   not for `example.org` itself.
    public init(_ hosts: some Sequence<String>) {
        self.init(patterns: Set(hosts.map { $0.lowercased() }), isAny: false)
    }

    /// Creates a set of hosts, as ``init(_:)`` does.
    public init(arrayLiteral hosts: String...) {
        self.init(hosts)
    }

    /// Returns whether a host may be contacted. Case is ignored.
    public func contains(_ host: String) -> Bool {
        if isAny { return true }
        let host = host.lowercased()
        if patterns.contains(host) { return true }
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if patterns.contains("*.\(rest)") { return true }
        }
        return false
    }
}

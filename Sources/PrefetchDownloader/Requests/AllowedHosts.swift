/// The servers that may be asked, which holds for redirects, too.
///
/// ```swift
/// configuration.hosts = ["media.example.org", "*.cdn.example.net"]
/// ```
public struct AllowedHosts: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// Any host: for a program whose user gives the URLs.
    public static let any = AllowedHosts(patterns: [], isAny: true)

    private let patterns: Set<String>
    private let isAny: Bool

    private init(patterns: Set<String>, isAny: Bool) {
        self.patterns = patterns
        self.isAny = isAny
    }

    /// - Parameter hosts: Names or addresses. `*.example.org` stands for all hosts below `example.org`, and not
    ///   for `example.org`.
    public init(_ hosts: some Sequence<String>) {
        self.init(patterns: Set(hosts.map { $0.lowercased() }), isAny: false)
    }

    public init(arrayLiteral hosts: String...) {
        self.init(hosts)
    }

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

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The scheme, host and port of a URL (RFC 6454). Logs and errors contain nothing else of a URL, since the
/// rest may be secret.
struct Origin: Hashable, Sendable, CustomStringConvertible {
    let scheme: String
    let host: String
    let port: Int

    /// Returns `nil` for a URL without a scheme or a host.
    init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased(), !host.isEmpty else {
            return nil
        }
        self.scheme = scheme
        self.host = host
        self.port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// Whether the host is this machine.
    var isLoopback: Bool {
        host == "localhost" || host == "::1" || host == "[::1]" || host.isLoopbackAddress
    }

    var description: String {
        let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let isUsual = port == (scheme == "https" ? 443 : 80)
        return isUsual ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}

extension String {
    /// Whether this is an address in 127.0.0.0/8, written out.
    fileprivate var isLoopbackAddress: Bool {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

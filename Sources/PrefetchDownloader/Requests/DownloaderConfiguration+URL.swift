#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DownloaderConfiguration {
    /// Returns why a URL may not be requested, or `nil`.
    func problem(of url: URL) -> DownloadError.Reason? {
        guard let origin = Origin(url), ["http", "https"].contains(origin.scheme) else {
            return .unsupportedURL
        }
        guard hosts.contains(origin.host) else { return .hostNotAllowed }
        guard origin.scheme == "https" || origin.isLoopback || allowsInsecureHTTP else { return .insecure }
        return nil
    }
}

internal import Foundation
internal import Logging

/// How a downloader behaves towards servers.
public struct DownloaderConfiguration: Sendable {
    /// The servers that may be contacted, including through redirects.
    public var hosts: AllowedHosts
    /// Whether plain `http` may be used to other machines. Anyone on the network path can read and modify it. Off by
    /// default.
    public var allowsInsecureHTTP = false
    /// The maximum number of concurrent transfers in total, at least 1. The default is 4.
    public var transfers = 4
    /// The maximum number of concurrent transfers per host of the requested URLs, at least 1. Redirect targets do not
    /// count. The default is 2.
    public var transfersPerHost = 2
    /// The maximum number of redirects that one request follows. The default is 5.
    public var redirects = 5
    /// Consecutive attempts without progress before giving up. The default is 5.
    public var attempts = 5
    /// The maximum wait before the second attempt; the default is 1 second. It doubles with every further attempt, up
    /// to ``longestBackoff``. The actual wait is a random fraction of it.
    public var firstBackoff = Duration.seconds(1)
    /// The maximum wait before any attempt, unless the server requests more. The default is 60 seconds.
    public var longestBackoff = Duration.seconds(60)
    /// The longest `Retry-After` to honour; the default is 120 seconds. If a server requests more, the download fails.
    public var longestRetryAfter = Duration.seconds(120)
    /// How long a server may send nothing, before or during its response. The default is 60 seconds. A stall is
    /// detected after one to two times this duration.
    public var stallTimeout = Duration.seconds(60)

    /// Creates a configuration with defaults for everything but the hosts.
    public init(hosts: AllowedHosts) {
        self.hosts = hosts
    }
}

/// The injected dependencies of a downloader.
struct DownloaderEnvironment: Sendable {
    var transport: any Transport = SessionTransport()
    /// Waits, and throws when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// The current time in seconds since 1970, for comparison with servers' dates.
    var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    /// Returns a random number from 0 to 1.
    var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    var logger = Logger(label: "PrefetchDownloader")
}

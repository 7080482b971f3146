/// How a downloader behaves towards servers.
public struct DownloaderConfiguration: Sendable {
    /// The servers that may be asked. The default is none.
    public var hosts: AllowedHosts
    /// Whether plain `http` is spoken beyond this machine, where anybody on the way can read and change it.
    public var allowsInsecureHTTP = false
    /// Transfers at a time, in all.
    public var transfers = 4
    /// Transfers at a time from one host, that of the request's URL: where it redirects to is not counted.
    public var transfersPerHost = 2
    /// Redirects that one request follows.
    public var redirects = 5
    /// Tries of one download in a row that do not bring it further.
    public var attempts = 5
    /// The longest wait before the second try. It doubles with every further one, up to ``longestBackoff``; the
    /// wait is a random part of that.
    public var firstBackoff = Duration.seconds(1)
    public var longestBackoff = Duration.seconds(60)
    /// The longest `Retry-After` that is waited for. Who asks for more is not asked again.
    public var longestRetryAfter = Duration.seconds(120)
    /// How long a server may say nothing before its answer, or in the middle of it.
    public var stallTimeout = Duration.seconds(60)

    public init(hosts: AllowedHosts) {
        self.hosts = hosts
    }
}

internal import Foundation
internal import Logging
public import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// How a downloader behaves towards servers.
public struct DownloaderConfiguration: Sendable {
    /// The servers that may be contacted, including through redirects.
    public var hosts: AllowedHosts
    /// Whether plain `http` may be used to other machines. Anyone on the network path can read and modify it. Off by
    /// default.
    public var allowsInsecureHTTP = false
    /// The `User-Agent` of requests that have none of their own; `nil` leaves it to the system. On Apple platforms that names
    /// the app, and is the default. On Linux the system has none: there the default is `PrefetchCache` with its version.
    public var userAgent: String? = Self.defaultUserAgent
    /// The maximum number of concurrent transfers in total, at least 1. The default is 4.
    public var transfers = 4
    /// The maximum number of concurrent transfers per host of the requested URLs, at least 1. Redirect targets do not
    /// count. The default is 2.
    public var transfersPerHost = 2
    /// The maximum number of redirects that one request follows. The default is 20.
    public var redirects = 20
    /// Consecutive attempts without progress before giving up. The default is 5. Before each further one there is a random part
    /// of 1, 2, 4 … 60 seconds or, after 429 and 503, the time that the server requests, for all downloads from its host. If
    /// it requests more than two minutes, they all fail, and for two minutes it is not asked again.
    public var attempts = 5
    /// How long a server may send nothing before its response, or less than 1 KiB/s of it on average. The default is 60
    /// seconds; for a response, half of it if other downloads wait for the transfer to end. Only time in which the server is
    /// waited for counts.
    public var stallTimeout = Duration.seconds(60)
    /// The conditions for opportunistic downloads, unless a request says otherwise. By default no network in Low Data Mode
    /// and no expensive one is used, and nothing is downloaded in Low Power Mode or on a device that is hot.
    public var conditions: DownloadConditions = [
        .unconstrainedNetwork, .unexpensiveNetwork, .unstrainedDevice,
    ]
    /// Returns what the device and its network are like now, for ``conditions``; by default ``DeviceState/ofSystem()``. It is
    /// called at most every ten seconds, and may block its thread. Where it throws, no condition is met.
    ///
    /// ```swift
    /// configuration.device = {
    ///     var state = try DeviceState.ofSystem()
    ///     state.hasExternalPower = await MainActor.run { UIDevice.current.batteryState != .unplugged }
    ///     return state
    /// }
    /// ```
    public var device: @Sendable () async throws -> DeviceState = { try DeviceState.ofSystem() }
    /// What may be evicted for opportunistic downloads, unless a request says otherwise. The default is
    /// ``/PrefetchCaching/AdmissionMode/evicting``. In either case a download displaces none that precedes it in the same
    /// list, see ``PrefetchDownloader/prefetch(_:)-(Sequence<DownloadRequest>)``.
    public var admission = AdmissionMode.evicting
    /// Whether opportunistic downloads are refused of sources of which so little is opened, for the space and the bytes that they
    /// take, that the other sources are worth several times as much: the history decides, see the article Worth of
    /// PrefetchCaching. The outcome is ``DownloadOutcome/refused(_:keptBytes:)`` with `paused`. Every tenth item is downloaded
    /// nevertheless, and what the user looks for is noticed, so that a source whose items are wanted again is resumed. Off by
    /// default.
    public var pausesUnopenedSources = false

    #if canImport(Darwin)
        private static let defaultUserAgent: String? = nil
    #else
        private static let defaultUserAgent: String? = "PrefetchCache/\(PrefetchCache.version)"
    #endif

    /// Creates a configuration with defaults for everything but the hosts.
    public init(hosts: AllowedHosts) {
        self.hosts = hosts
    }
}

/// The injected dependencies of a downloader.
struct DownloaderEnvironment: Sendable {
    #if canImport(CPrefetchCurl)
        var transport: any Transport = CurlTransport()
    #else
        var transport: any Transport = SessionTransport()
    #endif
    /// Waits, and throws when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Timers.shared.sleep(for: $0) }
    /// The current time in seconds since 1970, for comparison with servers' dates.
    var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    /// Returns a random number from 0 to 1.
    var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    var logger = Logger(label: "PrefetchDownloader")
}

extension DownloaderConfiguration {
    /// The longest `Retry-After` that is honoured.
    static let longestRetryAfter = Duration.seconds(120)

    /// How long to wait after a failure: exponential backoff with full jitter, so that clients that failed together do not retry
    /// together (Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015), but no less than the server
    /// requests; `nil` if that is more than ``longestRetryAfter``.
    ///
    /// - Parameters:
    ///   - failures: Consecutive attempts without progress, including this one.
    ///   - random: Returns a random number from 0 to 1.
    func delay(after reason: DownloadError.Reason, failures: Int, random: () -> Double) -> Duration? {
        let ceiling = Duration.seconds(min(60, 1 << min(max(failures, 1) - 1, 6)))
        let delay = ceiling * min(max(random(), 0), 1)
        guard case .status(_, let retryAfter?) = reason else { return delay }
        return retryAfter <= Self.longestRetryAfter ? max(delay, retryAfter) : nil
    }
}

extension DownloadError.Reason {
    /// Whether the same request may succeed later.
    var isTransient: Bool {
        switch self {
        case .connection(.notTrusted), .connection(.malformed), .connection(.cancelled),
            .connection(.networkIsExpensive), .connection(.networkIsConstrained):
            false
        // Any other connection failure: on Linux most have no specific error code.
        case .connection, .stalled, .truncated, .partialLost, .changed: true
        // The next attempt does without an encoding.
        case .undecodable, .expandsTooFar: true
        // Pages of proxies and networks come and go.
        case .wrongMediaType, .wrongRange: true
        case .status(let status, _): [408, 429, 500, 502, 503, 504].contains(status)
        default: false
        }
    }

    /// Whether the server wants to be left alone, by all.
    var isOfBusyHost: Bool {
        if case .status(429, _) = self { true } else if case .status(503, _) = self { true } else { false }
    }

    /// Whether what arrived is not the content.
    var isAboutContent: Bool {
        switch self {
        case .wrongDigest, .undecodable, .expandsTooFar, .encoded: true
        default: false
        }
    }

    /// Whether the bytes stored so far may be part of the content, so that they are kept.
    var keepsPartial: Bool {
        switch self {
        case .tooLong, .wrongRange, .wrongLength, .wrongDigest, .encoded, .undecodable, .expandsTooFar,
            .partialLost:
            false
        default: true
        }
    }
}

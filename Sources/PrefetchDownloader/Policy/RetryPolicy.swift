/// Whether a failed download is tried again, and when.
struct RetryPolicy: Sendable {
    let attempts: Int
    let backoff: Backoff
    let longestRetryAfter: Duration

    init(_ configuration: DownloaderConfiguration) {
        attempts = configuration.attempts
        backoff = Backoff(first: configuration.firstBackoff, longest: configuration.longestBackoff)
        longestRetryAfter = configuration.longestRetryAfter
    }

    /// - Parameters:
    ///   - failures: Tries in a row that have not brought the download further, this one included.
    ///   - random: Draws a number from 0 to 1.
    /// - Returns: `nil` when there is to be no other try.
    func delay(after reason: DownloadError.Reason, failures: Int, random: () -> Double) -> Duration? {
        guard failures < attempts, reason.isTransient else { return nil }
        let delay = backoff.delay(after: failures, random: random)
        guard case .status(_, let retryAfter?) = reason else { return delay }
        return retryAfter <= longestRetryAfter ? max(delay, retryAfter) : nil
    }
}

extension DownloadError.Reason {
    /// Whether the same request may well succeed later.
    var isTransient: Bool {
        switch self {
        case .connection(let failure): failure.isTransient
        case .stalled, .truncated, .partialGone: true
        case .status(let status, _): [408, 429, 500, 502, 503, 504].contains(status)
        case .unsupportedURL, .hostNotAllowed, .insecure, .tooManyRedirects, .redirect, .tooLong, .wrongRange,
            .wrongLength, .wrongDigest, .encoded, .cache:
            false
        }
    }

    /// Whether what has been stored so far may be a part of the content, so that it is kept.
    var keepsPartial: Bool {
        switch self {
        case .tooLong, .wrongRange, .wrongLength, .wrongDigest, .encoded, .partialGone: false
        case .unsupportedURL, .hostNotAllowed, .insecure, .tooManyRedirects, .redirect, .status, .connection,
            .stalled, .truncated, .cache:
            true
        }
    }
}

extension TransferFailure {
    fileprivate var isTransient: Bool {
        switch self {
        // On Linux most of what breaks a connection has no name of its own.
        case .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .offline, .other: true
        case .notTrusted, .malformed, .cancelled: false
        }
    }
}

/// Whether a failed download is attempted again, and when.
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
    ///   - failures: Consecutive attempts without progress, including this one.
    ///   - random: Returns a random number from 0 to 1.
    /// - Returns: `nil` when there is to be no further attempt.
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
            .wrongLength, .wrongDigest, .unmarkedEnd, .encoded, .cache:
            false
        }
    }

    /// Whether the bytes stored so far may be part of the content, so that they are kept.
    var keepsPartial: Bool {
        switch self {
        case .tooLong, .wrongRange, .wrongLength, .wrongDigest, .encoded, .partialGone: false
        case .unsupportedURL, .hostNotAllowed, .insecure, .tooManyRedirects, .redirect, .status, .connection,
            .stalled, .truncated, .unmarkedEnd, .cache:
            true
        }
    }
}

extension TransferFailure {
    fileprivate var isTransient: Bool {
        switch self {
        // On Linux most causes of a broken connection have no code of their own.
        case .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .offline, .other: true
        case .notTrusted, .malformed, .cancelled: false
        }
    }
}

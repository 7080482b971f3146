internal import Foundation
internal import Logging
internal import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Retries a download until it succeeds or another attempt is pointless.
struct DownloadRun: Sendable {
    let job: DownloadJob
    let configuration: DownloaderConfiguration
    let cache: PrefetchCache
    let environment: DownloaderEnvironment
    let slots: TransferSlots

    private var request: DownloadRequest { job.request }

    func outcome() async -> DownloadOutcome {
        let outcome = await result()
        if case .failed(let error) = outcome {
            environment.logger.info("A download failed.", metadata: ["error": "\(error)"])
        }
        return outcome
    }

    private func result() async -> DownloadOutcome {
        guard let url = request.urlRequest.url, let origin = Origin(url) else {
            return .failed(error(.unsupportedURL, at: "?"))
        }
        if let problem = configuration.problem(of: url) {
            return .failed(error(problem, at: origin.description))
        }
        do {
            try request.metadata(Validator()).validate()
        } catch {
            return .failed(self.error(.cache(.item(error)), at: origin.description))
        }
        var failures = 0
        var furthest: Int64 = 0
        while true {
            // The slot is released between attempts, so that others can run during the backoff.
            let entry = SlotQueue.Entry(
                number: job.number, host: origin.host, isRequested: job.isUrgent, priority: request.priority)
            let result = await slots.use(entry) { await job.transferring { await attempt() } }
            guard let result else { return job.stoppedOutcome(keptBytes: furthest) }
            let interruption: Interruption
            switch result {
            case .success(let outcome): return outcome
            case .failure(let failure): interruption = failure
            }
            guard let reason = interruption.reason else {
                return job.stoppedOutcome(keptBytes: interruption.keptBytes)
            }
            if interruption.keptBytes > furthest {
                furthest = interruption.keptBytes
                failures = 0
            }
            failures += 1
            let error = error(reason, at: origin.description, kept: interruption.keptBytes)
            // The content was assembled from two downloads, possibly of different versions: retry from the start.
            if case .wrongDigest = reason, interruption.wasResumed, failures < configuration.attempts {
                job.emit(.retrying(after: .zero, error))
                continue
            }
            let delay = configuration.retryDelay(
                after: reason, failures: failures, random: environment.random)
            guard let delay else { return .failed(error) }
            job.emit(.retrying(after: delay, error))
            do {
                try await environment.sleep(delay)
            } catch {
                return job.stoppedOutcome(keptBytes: interruption.keptBytes)
            }
        }
    }

    private func attempt() async -> Result<DownloadOutcome, Interruption> {
        let attempt = Attempt(
            request: request, configuration: configuration, cache: cache, environment: environment,
            emit: { [job] in job.emit($0) })
        do {
            return .success(try await attempt.run())
        } catch {
            return .failure(Interruption(causedBy: error))
        }
    }

    private func error(_ reason: DownloadError.Reason, at origin: String, kept: Int64 = 0) -> DownloadError {
        DownloadError(key: request.key, origin: origin, reason, keptBytes: kept)
    }
}

extension DownloaderConfiguration {
    /// The delay before a failed download is retried; `nil` if it is not retried.
    ///
    /// - Parameters:
    ///   - failures: Consecutive attempts without progress, including this one.
    ///   - random: Returns a random number from 0 to 1.
    func retryDelay(
        after reason: DownloadError.Reason, failures: Int, random: () -> Double
    ) -> Duration? {
        guard failures < attempts, reason.isTransient else { return nil }
        let delay = backoff(after: failures, random: random)
        guard case .status(_, let retryAfter?) = reason else { return delay }
        return retryAfter <= longestRetryAfter ? max(delay, retryAfter) : nil
    }

    /// The delay before the next attempt: exponential backoff with full jitter, so that clients that failed together do
    /// not retry together (Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
    ///
    /// - Parameters:
    ///   - failures: The number of failed attempts, at least 1.
    ///   - random: Returns a random number from 0 to 1.
    func backoff(after failures: Int, random: () -> Double) -> Duration {
        // 2^30 times any sensible value exceeds `longestBackoff`.
        let ceiling = min(longestBackoff, firstBackoff * (1 << min(max(failures, 1) - 1, 30)))
        return ceiling * min(max(random(), 0), 1)
    }
}

extension DownloadError.Reason {
    /// Whether the same request may succeed later.
    var isTransient: Bool {
        switch self {
        case .connection(let failure): failure.isTransient
        case .stalled, .truncated, .partialLost: true
        case .status(let status, _): [408, 429, 500, 502, 503, 504].contains(status)
        case .unsupportedURL, .hostNotAllowed, .insecure, .tooManyRedirects, .redirect, .tooLong, .wrongRange,
            .wrongLength, .wrongDigest, .undelimitedBody, .encoded, .cache:
            false
        }
    }

    /// Whether the bytes stored so far may be part of the content, so that they are kept.
    var keepsPartial: Bool {
        switch self {
        case .tooLong, .wrongRange, .wrongLength, .wrongDigest, .encoded, .partialLost: false
        case .unsupportedURL, .hostNotAllowed, .insecure, .tooManyRedirects, .redirect, .status, .connection,
            .stalled, .truncated, .undelimitedBody, .cache:
            true
        }
    }
}

extension TransferFailure {
    fileprivate var isTransient: Bool {
        switch self {
        // On Linux most connection failures have no specific error code.
        case .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .offline, .other: true
        case .notTrusted, .malformed, .cancelled: false
        }
    }
}

internal import Foundation
internal import Logging
internal import PrefetchCache

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Repeats a download until it succeeds or another attempt is pointless.
struct DownloadRun: Sendable {
    let job: DownloadJob
    let configuration: DownloaderConfiguration
    let storing: any DownloadStoring
    let environment: DownloaderEnvironment
    let slots: TransferSlots

    private var request: DownloadRequest { job.request }

    func outcome() async -> DownloadOutcome {
        guard let url = request.urlRequest.url, let origin = Origin(url) else {
            return failed(.unsupportedURL, origin: "?")
        }
        if let problem = configuration.problem(of: url) { return failed(problem, origin: origin.description) }
        let policy = RetryPolicy(configuration)
        var failures = 0
        var furthest: Int64 = 0
        while true {
            // A download that waits for its next attempt lets others go first.
            let entry = SlotQueue.Entry(
                number: job.number, host: origin.host, isRequested: job.isUrgent, priority: request.priority)
            let result = await slots.use(entry) { await job.transferring { await attempt() } }
            guard let result else { return job.stoppedOutcome(keptLength: furthest) }
            let interruption: Interruption
            switch result {
            case .success(let outcome): return outcome
            case .failure(let reason): interruption = reason
            }
            guard case .failed(let reason) = interruption.cause else {
                return job.stoppedOutcome(keptLength: interruption.keptLength)
            }
            if interruption.keptLength > furthest {
                furthest = interruption.keptLength
                failures = 0
            }
            failures += 1
            let error = error(reason, origin.description, interruption.keptLength)
            // The content came from two downloads, possibly of two versions.
            if case .wrongDigest = reason, interruption.wasResumed, failures < policy.attempts {
                job.emit(.retrying(after: .zero, error))
                continue
            }
            guard let delay = policy.delay(after: reason, failures: failures, random: environment.random)
            else {
                return failed(error)
            }
            job.emit(.retrying(after: delay, error))
            do {
                try await environment.sleep(delay)
            } catch {
                return job.stoppedOutcome(keptLength: interruption.keptLength)
            }
        }
    }

    private func attempt() async -> Result<DownloadOutcome, Interruption> {
        let attempt = Attempt(
            request: request, configuration: configuration, storing: storing, environment: environment,
            emit: { [job] in job.emit($0) })
        do {
            return .success(try await attempt.run())
        } catch {
            return .failure(error)
        }
    }

    private func failed(_ reason: DownloadError.Reason, origin: String) -> DownloadOutcome {
        failed(error(reason, origin, 0))
    }

    private func failed(_ error: DownloadError) -> DownloadOutcome {
        environment.logger.info("A download failed.", metadata: ["error": "\(error)"])
        return .failed(error)
    }

    private func error(_ reason: DownloadError.Reason, _ origin: String, _ keptLength: Int64) -> DownloadError
    {
        var error = DownloadError(key: request.key, origin: origin, reason)
        error.keptLength = keptLength
        return error
    }
}

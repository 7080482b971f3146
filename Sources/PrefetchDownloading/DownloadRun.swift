internal import Foundation
internal import Logging
internal import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Why one attempt at a download did not succeed.
struct AttemptFailure: Error {
    enum Cause {
        /// The task was cancelled.
        case cancelled
        case unmet(UnmetCondition)
        /// Another process is fetching the content, of which nothing may be here. It last showed that it receives something
        /// at this time, by whatever clock; `nil` if that is not known.
        case elsewhere(isWithoutItem: Bool, lastSign: Int64?)
        case failed(DownloadError.Reason)
    }

    var cause: Cause
    /// Bytes of content that are kept for a later attempt.
    var keptBytes: Int64 = 0
    /// Whether the attempt resumed an earlier one.
    var wasResumed = false
    /// Whether the body was encoded for the transfer.
    var wasEncoded = false
    /// Whether the body could be decoded where it was stored as sent, or the reverse.
    var mayBeMeantOtherwise = false

    var reason: DownloadError.Reason? {
        if case .failed(let reason) = cause { reason } else { nil }
    }

    init(_ cause: Cause, keptBytes: Int64 = 0) { (self.cause, self.keptBytes) = (cause, keptBytes) }

    /// Converts any error thrown during an attempt, in the task that made it.
    init(_ error: any Error) {
        if let failure = error as? AttemptFailure {
            self = failure
            return
        }
        cause =
            switch error {
            case let condition as UnmetCondition: .unmet(condition)
            case DownloadError.Reason.connection(.networkIsExpensive): .unmet(.unexpensiveNetwork)
            case DownloadError.Reason.connection(.networkIsConstrained): .unmet(.unconstrainedNetwork)
            case CacheError.cancelled: .cancelled
            case DownloadError.Reason.connection where Task.isCancelled: .cancelled
            case let error as DownloadError.Reason: .failed(error)
            case let error as CacheError: .failed(.cache(error))
            default: .failed(.connection(.other))
            }
    }
}

/// What an attempt at a download may do, and what it waited for.
struct Attempt: Sendable {
    /// Whether servers may encode the content for the transfer.
    var acceptsEncoded: Bool
    /// See ``BodyContext``.
    var isMeantOtherwise = false
    var waits = Waits()
}

/// Runs a download: attempts it until it succeeds or another attempt is pointless.
struct DownloadRun: Sendable {
    let job: DownloadJob
    let configuration: DownloaderConfiguration
    let cache: PrefetchCache
    let environment: DownloaderEnvironment
    let slots: TransferSlots
    let keeper: ConditionKeeper
    let stalls: StallDetection

    var request: DownloadRequest { job.request }
    private var origin: Origin? { request.urlRequest.url.flatMap(Origin.init) }
    var expected: Expectations { Expectations(of: request) }
    /// What replaces an opened file goes to its destination, too.
    var partialIntent: Intent {
        request.whenPromoted == .replaceIfUnmodified ? .userRequested : request.intent
    }

    /// The names of the content, as those say that it is an archive.
    var names: [String] {
        [
            request.urlRequest.url?.namedFile, request.urlRequest.url?.query(),
            request.destination?.name.string,
        ]
        .compactMap(\.self)
    }

    /// Content known to be long is rather resumed exactly, and archives do not become smaller.
    var acceptsEncoded: Bool {
        request.allowsCompressedTransfer && expected.length ?? 0 <= Self.longestEncodedBytes
            && !names.contains(where: Archive.isOne)
    }

    private static let longestEncodedBytes: Int64 = 16 << 20

    var entry: SlotQueue.Entry {
        SlotQueue.Entry(
            number: job.number, host: origin?.host ?? "", isRequested: job.isUrgent,
            priority: request.priority)
    }

    /// Attempts the download until it succeeds, is stopped, or another attempt is pointless. Waits for a slot at first.
    func outcome() async -> DownloadOutcome {
        do throws(DownloadError.Reason) {
            try requireAllowed()
        } catch {
            slots.free(job.number)
            return failed(self.error(error))
        }
        var (isQueued, failures) = (true, 0)
        var furthest: Int64 = 0
        var next = Attempt(acceptsEncoded: acceptsEncoded)
        while true {
            // The slot is released between attempts, so that others can run during the backoff.
            let this = next
            if !isQueued { slots.add(entry) }
            isQueued = false
            await slots.wait(for: job.number)
            guard !Task.isCancelled else {
                slots.free(job.number)
                return job.stoppedOutcome(keptBytes: furthest)
            }
            let result = await make(this)
            // While it holds the slot, so that no other download takes that and asks the host as well.
            let pause = heed(result)
            slots.free(job.number)
            var failure: AttemptFailure
            switch result {
            case .success(let outcome):
                await countFetched(keeping: outcome.keptBytes)
                return outcome
            case .failure(let reason): failure = reason
            }
            if case .cache(.suspended)? = failure.reason {
                do {
                    // Waits until the cache is resumed.
                    failure.keptBytes = try await keptBytes()
                    await countFetched(keeping: failure.keptBytes)
                    continue
                } catch {
                    failure = AttemptFailure(error)
                }
            }
            await countFetched(keeping: failure.keptBytes)
            let reason: DownloadError.Reason
            switch failure.cause {
            case .cancelled: return job.stoppedOutcome(keptBytes: failure.keptBytes)
            case .unmet(let condition):
                return .postponed(condition, keptBytes: max(furthest, failure.keptBytes))
            case .elsewhere(let isWithoutItem, let lastSign):
                if next.waits.count == 0 { next.waits.beganWithoutItem = isWithoutItem }
                // A lock cannot be awaited: whoever fetches is looked at again.
                let wait = next.waits.next(after: lastSign, forUser: job.isUrgent)
                guard await sleep(wait) else { return job.stoppedOutcome(keptBytes: furthest) }
                continue
            case .failed(let error): reason = error
            }
            if failure.keptBytes > furthest { (furthest, failures) = (failure.keptBytes, 0) }
            // What is not encoded can be resumed, and need not be decoded.
            if failure.wasEncoded, failure.keptBytes == 0 { next.acceptsEncoded = false }
            failures += 1
            let error = error(reason, keptBytes: failure.keptBytes)
            // The digest decides whether a declared encoding is one.
            let isMeantOtherwise =
                failure.mayBeMeantOtherwise && !this.isMeantOtherwise && reason.isAboutContent
            // The content was assembled from two downloads, possibly of different versions: retry from the start.
            let isMixed =
                !reason.keepsPartial && !reason.isTransient && failure.wasResumed
                && failures < configuration.attempts
            if isMeantOtherwise || isMixed {
                if isMeantOtherwise { next.isMeantOtherwise = true }
                job.emit(.retrying(after: .zero, error))
                continue
            }
            guard failures < configuration.attempts, reason.isTransient,
                let delay = configuration.delay(
                    after: reason, failures: failures, random: environment.random)
            else { return failed(error) }
            job.emit(.retrying(after: pause ?? delay, error))
            // It waits for the host, as all others do.
            if pause != nil { continue }
            guard await sleep(delay) else { return job.stoppedOutcome(keptBytes: failure.keptBytes) }
        }
    }

    /// - Returns: `false` if the task is cancelled.
    private func sleep(_ duration: Duration) async -> Bool {
        do {
            // Injected: a timer, which a test advances.
            try await environment.sleep(duration)
            return true
        } catch {
            return false
        }
    }

    /// Bytes of content that are kept for a later attempt. Waits while the cache is suspended.
    func keptBytes() async throws(CacheError) -> Int64 {
        try await cache.partial(of: request.key, for: partialIntent)?.contentBytes ?? 0
    }

    /// Leaves the host alone, with all its downloads, if it has answered that there are too many requests.
    ///
    /// - Returns: For how long; `nil` if it is not.
    private func heed(_ result: Result<DownloadOutcome, AttemptFailure>) -> Duration? {
        let host = entry.host
        switch result {
        case .success(.stored), .success(.delivered), .success(.notModified):
            slots.noteAnswer(of: host)
        case .failure(let failure):
            guard let reason = failure.reason, reason.isOfBusyHost, slots.refusal(of: host) == nil else {
                break
            }
            let delay = slots.pause(host, because: reason) { count in
                configuration.delay(after: reason, failures: count, random: environment.random)
            }
            // Nobody cancels it.
            Task {
                _ = await sleep(delay ?? DownloaderConfiguration.longestRetryAfter)
                slots.resume(host)
            }
            return delay
        default: break
        }
        return nil
    }

    /// Checks what is wrong with the request whatever the server answers.
    func requireAllowed() throws(DownloadError.Reason) {
        for urlRequest in [request.urlRequest] + request.files.map(\.urlRequest) {
            if let problem = configuration.problem(of: urlRequest.url) { throw problem }
        }
        do {
            try request.metadata(Validator()).validate()
        } catch {
            throw .cache(.item(error))
        }
    }

    /// - Parameter keptBytes: Bytes of content that are kept; `nil` for all.
    private func countFetched(keeping keptBytes: Int64?) async {
        let (fetched, claim) = job.takeFetched()
        await countFetched(
            fetched.bytes, again: fetched.again, inVain: fetched.inVain(keeping: keptBytes), releasing: claim)
    }

    func countFetched(
        _ bytes: Int64, again: Int64, inVain: Int64, releasing claim: FetchClaim? = nil
    ) async {
        do {
            try await cache.endFetch(
                bytes, again: again, inVain: inVain, from: request.source, releasing: claim)
        } catch {
            environment.logger.debug("A transfer was not counted.", metadata: ["error": "\(error)"])
        }
    }

    func error(_ reason: DownloadError.Reason, keptBytes: Int64 = 0) -> DownloadError {
        DownloadError(
            key: request.key, origin: origin?.description ?? "?", reason: reason, keptBytes: keptBytes)
    }

    func failed(_ error: DownloadError) -> DownloadOutcome {
        environment.logger.info("A download failed.", metadata: ["error": "\(error)"])
        return .failed(error)
    }

    /// Makes an attempt, which a suspension of the cache ends.
    private func make(_ attempt: Attempt) async -> Result<DownloadOutcome, AttemptFailure> {
        let task = Task(executorPreference: cache.downloadExecutor) {
            do {
                return Result<_, AttemptFailure>.success(try await download(attempt))
            } catch {
                return .failure(AttemptFailure(error))
            }
        }
        let (result, wasStopped) = await withTaskCancellationHandler {
            await cache.whileRunning(task)
        } onCancel: {
            task.cancel()
        }
        if wasStopped, !job.isStopped, case .failure = result {
            return .failure(AttemptFailure(CacheError.suspended))
        }
        return result
    }

    /// Requests the content, and stores the response.
    ///
    /// - Throws: Errors that ``AttemptFailure/init(_:)`` converts.
    private func download(_ attempt: Attempt) async throws -> DownloadOutcome {
        if attempt.waits.count == 0 { job.emit(.started) }
        var outcome = try await downloadIfNeeded(attempt)
        guard request.intent == .userRequested else { return outcome }
        switch outcome {
        case .stored, .alreadyCached, .notModified:
            // The user is waiting for the content, so open it whether or not it was downloaded just now.
            if let item = try await cache.open(request.key) { return .delivered(item) }
            fallthrough
        case .refused:
            // The cache has no room to complete its partial, but the destination may.
            outcome =
                try await request.files.isEmpty
                ? perform(.whole, in: attempt) : downloadBundle(unless: nil)
        default: break
        }
        // The user has the content: discard the partial of an earlier prefetch.
        if case .delivered = outcome { try await cache.discardPartial(of: request.key) }
        return outcome
    }

    private func downloadIfNeeded(_ attempt: Attempt) async throws -> DownloadOutcome {
        if !job.isUrgent, request.files.isEmpty {
            switch try await cache.beginFetch(
                request.metadata(Validator()), expectedLength: expected.length, on: job.terms)
            {
            case .clear(let claim):
                job.keep(claim)
                return try await perform(.whole, in: attempt)
            case .refused(let refusal): return .refused(refusal, keptBytes: 0)
            case .occupied: break
            }
        }
        var replaced: PromotedFile?
        if request.whenPromoted != .storeAgain, let file = try await promoted() {
            guard request.whenPromoted == .replaceIfUnmodified, try await cache.isUnmodified(file.key) else {
                return .alreadyPromoted(file)
            }
            replaced = file
        }
        let item = try await replaced == nil ? itemToKeep() : nil
        if let item, isNewEnough(item, after: attempt.waits) { return .alreadyCached }
        switch try await cache.claim(request.key) {
        case .heldElsewhere where !attempt.waits.areInVain(forUser: job.isUrgent):
            throw AttemptFailure(
                .elsewhere(isWithoutItem: item == nil, lastSign: try await cache.lastSignOfFetch(request.key))
            )
        // A process that is stopped may hold it for ever.
        case .heldElsewhere, .unsupported:
            return try await download(unless: item, replacing: replaced, in: attempt)
        case .claimed(let claim):
            job.keep(claim)
            // Another process may have stored it just before.
            if item == nil, replaced == nil, try await itemToKeep() != nil { return .alreadyCached }
            return try await download(unless: item, replacing: replaced, in: attempt)
        }
    }

    /// The cached item, unless it is to be replaced in any case.
    func itemToKeep() async throws -> ItemMetadata? {
        request.whenCached == .replace ? nil : try await cachedAsExpected()
    }

    /// Whether the server need not be asked for a newer version: the digest is known, or another process has stored the item
    /// since it was requested.
    private func isNewEnough(_ item: ItemMetadata, after waits: Waits) -> Bool {
        expected.digest != nil || request.whenCached == .keep || waits.beganWithoutItem
            || item.storedAt > job.requestedAt
    }

    /// - Parameters:
    ///   - item: The item that is cached.
    ///   - replaced: The opened file that is to be replaced if the server has a newer version.
    private func download(
        unless item: ItemMetadata?, replacing replaced: PromotedFile?, in attempt: Attempt
    ) async throws -> DownloadOutcome {
        let present = item?.validator ?? replaced?.provenance?.validator
        if !request.files.isEmpty {
            let outcome = try await downloadBundle(unless: present)
            if let replaced, case .notModified = outcome { return .alreadyPromoted(replaced) }
            return outcome
        }
        var partial = try await cache.partial(of: request.key, for: partialIntent)
        // A partial can be resumed only as the item that it was begun as.
        if let item = partial?.metadata, !request.agrees(with: item) { partial = nil }
        let plan = RequestPlan(partial: partial, present: present, expectedLength: expected.length)
        if case .rest = plan, let partial {
            // Before the request: verifying the partial would keep the server waiting.
            return try await resume(partial) { try await perform(plan, in: attempt, resuming: $0) }
        }
        // Avoids a pointless request.
        if plan == .whole, request.intent == .opportunistic,
            let refusal = try await cache.refusal(
                of: request.metadata(Validator()), expectedLength: expected.length, on: job.terms)
        {
            return .refused(refusal, keptBytes: 0)
        }
        return try await perform(plan, in: attempt)
    }

    func promoted() async throws(CacheError) -> PromotedFile? {
        guard case .promoted(let item)? = try await cache.status(of: request.key) else { return nil }
        return item
    }

    /// The cached item, if it is the expected content.
    private func cachedAsExpected() async throws -> ItemMetadata? {
        guard let (metadata, length) = try await cache.description(of: request.key),
            expected.length ?? length == length
        else { return nil }
        guard expected.digest != nil else { return metadata }
        let digest = ContentDigest(for: expected)
        do {
            let isIntact = try await cache.check(request.key, with: { digest.update($0) }).value != nil
            return isIntact && digest.finish() == nil ? metadata : nil
        } catch CacheError.item {
            // The item is damaged, and has been quarantined.
            return nil
        }
    }
}

/// The waits for another process that is fetching the content.
struct Waits: Sendable {
    /// How long to wait for a sign: a process that is stopped gives none. One whose server
    /// sends nothing gives up sooner, by ``DownloaderConfiguration/stallTimeout``.
    static let longest = Duration.seconds(120)
    /// The same while the user waits: longer than those take between two signs who receive something.
    static let longestForUser = Duration.seconds(8)

    private(set) var count = 0
    /// Whether nothing of the key was cached when they began.
    var beganWithoutItem = false
    private var lastSign: Int64?
    /// For how long there was no other sign.
    private var inVain = Duration.zero

    func areInVain(forUser isUrgent: Bool) -> Bool {
        inVain >= (isUrgent ? Self.longestForUser : Self.longest)
    }

    /// How long to wait now: 50 milliseconds at first, twice as long each time, and never above 2 seconds, or 200
    /// milliseconds while the user waits.
    mutating func next(after sign: Int64?, forUser isUrgent: Bool) -> Duration {
        let duration = min(
            .milliseconds(50) * (1 << min(count, 6)), isUrgent ? .milliseconds(200) : .seconds(2))
        count += 1
        inVain = sign == lastSign ? inVain + duration : .zero
        lastSign = sign
        return duration
    }
}

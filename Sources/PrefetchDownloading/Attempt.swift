internal import Foundation
internal import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Why one attempt at a download did not succeed.
struct Interruption: Error {
    /// Why it failed; `nil` if the task was cancelled.
    let reason: DownloadError.Reason?
    /// Bytes of content that are kept for a later attempt.
    var keptBytes: Int64 = 0
    /// Whether the attempt resumed an earlier one.
    var wasResumed = false

    init(_ reason: DownloadError.Reason?, keptBytes: Int64 = 0) {
        self.reason = reason
        self.keptBytes = keptBytes
    }

    /// Converts any error thrown during an attempt.
    init(causedBy error: any Error) {
        switch error {
        case let interruption as Interruption: self = interruption
        case let reason as DownloadError.Reason: self.init(reason)
        case CacheError.cancelled: self.init(nil)
        case let error as CacheError: self.init(.cache(error))
        default: self.init(.connection(.other))
        }
    }
}

/// One attempt at a download: requests the content, and stores the response.
struct Attempt: Sendable {
    let request: DownloadRequest
    let configuration: DownloaderConfiguration
    let cache: PrefetchCache
    let environment: DownloaderEnvironment
    let emit: @Sendable (DownloadEvent) -> Void

    private var expected: Expectations { Expectations(request.expectations) }
    private var forgetsPromotion: Bool { request.whenPromoted == .storeAgain }

    /// - Throws: Errors that ``Interruption/init(causedBy:)`` converts.
    func run() async throws -> DownloadOutcome {
        emit(.started)
        let outcome = try await find()
        guard request.intent == .userRequested else { return outcome }
        switch outcome {
        case .stored, .alreadyCached, .notModified:
            // The user is waiting for the content, so open it whether or not it was downloaded just now.
            if let item = try await cache.open(request.key) { return .delivered(item) }
            return try await perform(.whole)
        case .refused:
            // The cache has no room to complete the partial, but the destination may.
            return try await discardingPartial(after: perform(.whole))
        default: return try await discardingPartial(after: outcome)
        }
    }

    /// Discards the partial of an earlier prefetch once the user has the content.
    private func discardingPartial(after outcome: DownloadOutcome) async throws -> DownloadOutcome {
        if case .delivered = outcome { try await cache.discardPartial(of: request.key) }
        return outcome
    }

    private func find() async throws -> DownloadOutcome {
        if request.whenPromoted == .leave, let item = try await promoted() { return .alreadyPromoted(item) }
        var cached: ItemMetadata?
        if request.whenCached != .replace {
            cached = try await cachedAsExpected()
            // If the digest is known, there is no need to revalidate.
            if cached != nil, expected.digest != nil { return .alreadyCached }
            if let cached, request.whenCached == .keep || cached.validator.isEmpty { return .alreadyCached }
        }
        var partial = try await cache.partial(of: request.key)
        // A partial can be resumed only as the item that it was begun as.
        if let item = partial?.metadata, !request.agrees(with: item) { partial = nil }
        let plan = RequestPlan(
            partial: partial, cached: cached?.validator, expectedLength: expected.length)
        guard case .rest(let partial, _) = plan else {
            // Avoids a pointless request.
            if plan == .whole, request.intent == .opportunistic,
                let refusal = try await cache.refusal(of: request.key)
            {
                return .refused(refusal, keptBytes: 0)
            }
            return try await perform(plan)
        }
        // Before the request: verifying the partial would keep the server waiting.
        return try await resume(partial) { try await perform(plan, resuming: $0) }
    }

    private func promoted() async throws(CacheError) -> PromotedFile? {
        guard case .promoted(let item)? = try await cache.status(of: request.key) else { return nil }
        return item
    }

    /// The metadata of the cached item, if it is the expected content.
    private func cachedAsExpected() async throws -> ItemMetadata? {
        guard let cached = try await cache.description(of: request.key),
            expected.length ?? cached.contentBytes == cached.contentBytes
        else { return nil }
        if let digest = expected.digest, try await cachedDigest() != digest { return nil }
        return cached.metadata
    }

    private func cachedDigest() async throws -> [UInt8]? {
        let digest = ContentDigest(isWanted: true)
        do {
            guard try await cache.check(request.key, with: { digest.update($0) }).value != nil else {
                return nil
            }
        } catch CacheError.item {
            // The item is damaged, and has been quarantined.
            return nil
        }
        return digest.finalize()
    }

    /// - Parameter storage: Receives the rest if `plan` is ``RequestPlan/rest(of:condition:)``.
    private func perform(_ plan: RequestPlan, resuming storage: Storage? = nil) async throws
        -> DownloadOutcome
    {
        let reception: Reception
        do {
            reception = try await follow(plan)
        } catch {
            var interruption = Interruption(causedBy: error)
            interruption.keptBytes = plan.keptBytes
            throw try await storage?.end(after: interruption) ?? interruption
        }
        defer { reception.end() }
        let next = ResponsePlan(
            reception.head, isSecure: reception.isSecure, to: plan, expecting: expected,
            now: environment.now())
        switch next {
        case .notModified:
            await reception.drain()
            // The item may have been evicted in the meantime.
            let isThere = try await cache.description(of: request.key) != nil
            return isThere ? .notModified : try await perform(.whole)
        case .restart:
            reception.end()
            try await discard(storage)
            return try await perform(.whole)
        case .fail(let reason):
            let interruption = Interruption(reason, keptBytes: reason.keepsPartial ? plan.keptBytes : 0)
            if let storage { throw try await storage.end(after: interruption) }
            if !reason.keepsPartial { try await cache.discardPartial(of: request.key) }
            throw interruption
        case .complete(let partial):
            await reception.drain()
            return try await resume(partial) { storage in
                try await withKeptLength(storage.finish(length: partial.contentBytes))
            }
        case .append(let partial, let rest):
            guard let storage else { throw Interruption(.partialLost) }
            emit(.resumed(at: partial.contentBytes))
            return try await withKeptLength(
                storage.receive(reception, announced: partial.contentBytes + rest))
        case .store(let length):
            if plan.keptBytes > 0 { try await discard(storage) }
            return try await store(reception, length)
        }
    }

    /// Discards the partial, which is not part of the server's version.
    private func discard(_ storage: Storage?) async throws(CacheError) {
        guard let storage else { return try await cache.discardPartial(of: request.key) }
        try await storage.writer.cancel()
    }

    private func store(_ reception: Reception, _ length: Int64?) async throws -> DownloadOutcome {
        let now = environment.now()
        let metadata = request.metadata(Validator(reception.head, now: now))
        // Without a strong validator, a partial could not be distinguished from that of another version.
        let isResumable = metadata.validator.isStrong(in: reception.head, now: now)
        let begun = try await cache.beginStoring(
            metadata, expectedLength: length, keepingPartial: isResumable,
            forgettingPromotion: forgetsPromotion)
        switch begun {
        case .refused(let refusal): return try await refused(refusal, keptBytes: 0)
        case .writer(let writer):
            let digest = ContentDigest(isWanted: expected.digest != nil)
            let storage = Storage(writer: writer, digest: digest, expected: expected, start: 0, emit: emit)
            return try await withKeptLength(storage.receive(reception, announced: length))
        }
    }

    private func refused(_ refusal: Refusal, keptBytes: Int64) async throws -> DownloadOutcome {
        guard refusal == .alreadyPromoted else { return .refused(refusal, keptBytes: keptBytes) }
        // Opened since the lookup.
        guard let item = try await promoted() else { return .refused(refusal, keptBytes: 0) }
        return .alreadyPromoted(item)
    }

    /// Adds the length of the kept partial to the outcome of a download that was refused midway.
    private func withKeptLength(_ outcome: DownloadOutcome) async throws -> DownloadOutcome {
        guard case .refused(let refusal, _) = outcome else { return outcome }
        return .refused(
            refusal, keptBytes: try await cache.partial(of: request.key)?.contentBytes ?? 0)
    }

    private func resume(
        _ partial: ResumablePartial, _ body: (Storage) async throws -> DownloadOutcome
    ) async throws -> DownloadOutcome {
        let digest = ContentDigest(isWanted: expected.digest != nil)
        let resumed = try await cache.resumeStoring(
            partial, forgettingPromotion: forgetsPromotion, replay: digest.replay)
        switch resumed {
        case .refused(let refusal):
            return try await refused(refusal, keptBytes: partial.contentBytes)
        case .gone: throw Interruption(.partialLost)
        case .writer(let writer):
            guard writer.contentBytes == partial.contentBytes else {
                // The end of the partial was damaged and dropped. The next attempt requests what is missing.
                throw Interruption(.partialLost, keptBytes: try await writer.keep())
            }
            return try await body(
                Storage(
                    writer: writer, digest: digest, expected: expected, start: partial.contentBytes,
                    emit: emit))
        }
    }

    /// Sends the request, and follows redirects.
    private func follow(_ plan: RequestPlan) async throws -> Reception {
        var request = request.urlRequest
        request.httpMethod = "GET"
        request.httpBody = nil
        request.timeoutInterval = SessionTransport.timeout
        for (name, value) in plan.headers { request.setValue(value, forHTTPHeaderField: name) }
        for _ in 0...max(0, configuration.redirects) {
            let reception = try await Reception.open(request, configuration, environment)
            guard Redirect.statuses.contains(reception.head.status) else { return reception }
            reception.end()
            request = try Redirect.next(after: request, to: reception.head["location"], configuration)
        }
        throw Interruption(.tooManyRedirects(limit: configuration.redirects))
    }
}

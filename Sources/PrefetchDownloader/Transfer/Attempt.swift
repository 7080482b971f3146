internal import Foundation
internal import PrefetchCache

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Why one attempt at a download did not succeed.
struct Interruption: Error {
    enum Cause {
        /// The task was cancelled.
        case cancelled
        case failed(DownloadError.Reason)
    }

    let cause: Cause
    /// Bytes of content that are kept.
    var keptLength: Int64 = 0
    /// Whether the attempt resumed an earlier one.
    var wasResumed = false

    init(_ cause: Cause, keptLength: Int64 = 0, wasResumed: Bool = false) {
        self.cause = cause
        self.keptLength = keptLength
        self.wasResumed = wasResumed
    }

    init(_ reason: DownloadError.Reason) {
        self.init(.failed(reason))
    }
}

/// One attempt at a download: requests the content, and stores the response.
struct Attempt: Sendable {
    let request: DownloadRequest
    let configuration: DownloaderConfiguration
    let storing: any DownloadStoring
    let environment: DownloaderEnvironment
    let emit: @Sendable (DownloadEvent) -> Void

    private var expected: Expectations { Expectations(request.expectations) }

    func run() async throws(Interruption) -> DownloadOutcome {
        emit(.started)
        let outcome = try await find()
        guard request.intent == .userRequested else { return outcome }
        switch outcome {
        case .stored, .alreadyCached, .notModified:
            // Content that the user waits for is handed over, wherever it comes from.
            let item = try await onCache { () async throws(CacheError) in try await storing.open(request.key)
            }
            if let item { return .delivered(item) }
            return try await perform(.whole)
        case .refused:
            // The cache has no room for the rest of a prefetched content; its destination may have.
            return try await discardingPartial(after: perform(.whole))
        default: return try await discardingPartial(after: outcome)
        }
    }

    /// Discards what was begun before the user asked for the content, once they have it.
    private func discardingPartial(after outcome: DownloadOutcome) async throws(Interruption)
        -> DownloadOutcome
    {
        if case .delivered = outcome { try await discardPartial() }
        return outcome
    }

    private func find() async throws(Interruption) -> DownloadOutcome {
        if request.whenPromoted == .leave, let item = try await promoted() { return .alreadyPromoted(item) }
        var cached: ItemMetadata?
        if request.whenCached != .replace {
            cached = try await cachedAsExpected()
            // With a known digest there is no need to ask for the version.
            if cached != nil, expected.digest != nil { return .alreadyCached }
            if let cached, request.whenCached == .keep || cached.validator.isEmpty { return .alreadyCached }
        }
        var partial = try await onCache { () async throws(CacheError) in
            try await storing.partial(of: request.key)
        }
        // Only the item that it was begun as can be resumed.
        if let item = partial?.metadata, !request.agrees(with: item) { partial = nil }
        let plan = RequestPlan(
            partial: partial, cached: cached?.validator, expectedLength: expected.length)
        guard case .rest(let partial, _) = plan else {
            if let refusal = try await refusal(of: plan) { return .refused(refusal, keptLength: 0) }
            return try await perform(plan)
        }
        // Before the request, since the verification of the partial would hold up the server.
        return try await goOn(after: partial) { storage throws(Interruption) in
            try await perform(plan, goingOn: storage)
        }
    }

    /// Why a content that is not there is not even requested: the server is not to be troubled for nothing.
    private func refusal(of plan: RequestPlan) async throws(Interruption) -> Refusal? {
        guard case .whole = plan, request.intent == .opportunistic else { return nil }
        return try await onCache { () async throws(CacheError) in try await storing.refusal(of: request.key) }
    }

    private func promoted() async throws(Interruption) -> OpenedItem? {
        try await onCache { () async throws(CacheError) in try await storing.promoted(request.key) }
    }

    /// The metadata of the cached item, if it is the expected content.
    private func cachedAsExpected() async throws(Interruption) -> ItemMetadata? {
        let cached = try await onCache { () async throws(CacheError) in
            try await storing.description(of: request.key)
        }
        guard let cached, expected.length ?? cached.contentLength == cached.contentLength else { return nil }
        if let digest = expected.digest, try await cachedDigest() != digest { return nil }
        return cached.metadata
    }

    private func cachedDigest() async throws(Interruption) -> [UInt8]? {
        let digest = ContentDigest(isWanted: true)
        let isThere = try await onCache { () async throws(CacheError) in
            try await storing.replay(request.key) { digest.update($0) }
        }
        return isThere ? digest.finalize() : nil
    }

    /// - Parameter storage: Takes the rest, if the rest is requested.
    private func perform(
        _ plan: RequestPlan, goingOn storage: Storage? = nil
    ) async throws(Interruption) -> DownloadOutcome {
        let reception: Reception
        do {
            reception = try await follow(plan)
        } catch {
            throw try await storage?.giveUp(error) ?? error
        }
        defer { reception.end() }
        let next = ResponsePlan(
            reception.head, isSecure: reception.isSecure, to: plan, expecting: expected,
            now: environment.now())
        switch next {
        case .notModified:
            await reception.drain()
            // The item may have been evicted meanwhile.
            let isThere = try await onCache { () async throws(CacheError) in
                try await storing.description(of: request.key) != nil
            }
            return isThere ? .notModified : try await perform(.whole)
        case .startAnew:
            reception.end()
            try await drop(storage)
            return try await perform(.whole)
        case .fail(let reason):
            let interruption = Interruption(
                .failed(reason), keptLength: reason.keepsPartial ? plan.keptLength : 0)
            if let storage { throw try await storage.giveUp(interruption) }
            if !reason.keepsPartial { try await discardPartial() }
            throw interruption
        case .complete(let partial):
            await reception.drain()
            return try await goOn(after: partial) { storage throws(Interruption) in
                try await settled(storage.finish(length: partial.contentLength))
            }
        case .append(let partial, let rest):
            guard let storage else { throw Interruption(.partialGone) }
            emit(.resumed(at: partial.contentLength))
            return try await settled(
                storage.receive(reception, announced: partial.contentLength + rest))
        case .store(let length):
            if plan.keptLength > 0 { try await drop(storage) }
            return try await store(reception, length)
        }
    }

    /// Discards the partial, which is not part of what the server has.
    private func drop(_ storage: Storage?) async throws(Interruption) {
        guard let storage else { return try await discardPartial() }
        try await onCache { () async throws(CacheError) in try await storage.writer.cancel() }
    }

    private func store(_ reception: Reception, _ length: Int64?) async throws(Interruption) -> DownloadOutcome
    {
        let now = environment.now()
        let metadata = request.metadata(Validator(reception.head, now: now))
        // Without a strong validator, what is kept could not be told from the start of another version.
        let isResumable = metadata.validator.isStrong(in: reception.head, now: now)
        let start = try await onCache { () async throws(CacheError) in
            try await storing.begin(
                metadata, expectedLength: length, keepingPartial: isResumable,
                forgettingPromotion: forgetsPromotion)
        }
        switch start {
        case .refused(let refusal): return try await refused(refusal, keptLength: 0)
        case .gone: throw Interruption(.partialGone)
        case .writer(let writer):
            let digest = ContentDigest(isWanted: expected.digest != nil)
            return try await settled(storage(writer, digest, from: nil).receive(reception, announced: length))
        }
    }

    private func refused(_ refusal: Refusal, keptLength: Int64) async throws(Interruption) -> DownloadOutcome
    {
        guard refusal == .alreadyPromoted else { return .refused(refusal, keptLength: keptLength) }
        // Opened since the lookup.
        guard let item = try await promoted() else { return .refused(refusal, keptLength: 0) }
        return .alreadyPromoted(item)
    }

    private var forgetsPromotion: Bool { request.whenPromoted == .storeAnew }

    /// Adds the length of what is kept to the outcome of a content that was refused before its end.
    private func settled(_ outcome: DownloadOutcome) async throws(Interruption) -> DownloadOutcome {
        guard case .refused(let refusal, _) = outcome else { return outcome }
        let partial = try await onCache { () async throws(CacheError) in
            try await storing.partial(of: request.key)
        }
        return .refused(refusal, keptLength: partial?.contentLength ?? 0)
    }

    private func goOn(
        after partial: PartialItem, _ body: (Storage) async throws(Interruption) -> DownloadOutcome
    ) async throws(Interruption) -> DownloadOutcome {
        let digest = ContentDigest(isWanted: expected.digest != nil)
        let start = try await onCache { () async throws(CacheError) in
            try await storing.resume(
                partial, forgettingPromotion: forgetsPromotion, replay: digest.replay)
        }
        switch start {
        case .refused(let refusal):
            return try await refused(refusal, keptLength: partial.contentLength)
        case .gone: throw Interruption(.partialGone)
        case .writer(let writer):
            guard writer.contentLength == partial.contentLength else {
                // The end of the partial was damaged. The rest is requested by the next attempt.
                let kept = try await onCache { () async throws(CacheError) in try await writer.keep() }
                throw Interruption(.failed(.partialGone), keptLength: kept)
            }
            return try await body(storage(writer, digest, from: partial))
        }
    }

    private func discardPartial() async throws(Interruption) {
        try await onCache { () async throws(CacheError) in try await storing.discardPartial(of: request.key) }
    }

    private func storage(_ writer: any ContentWriting, _ digest: ContentDigest, from partial: PartialItem?)
        -> Storage
    {
        Storage(
            writer: writer, digest: digest, expected: expected, start: partial?.contentLength ?? 0, emit: emit
        )
    }

    /// Sends the request, and follows redirects.
    private func follow(_ plan: RequestPlan) async throws(Interruption) -> Reception {
        var request = request.urlRequest
        request.httpMethod = "GET"
        request.httpBody = nil
        request.timeoutInterval = SessionTransport.timeout
        for (name, value) in plan.headers { request.setValue(value, forHTTPHeaderField: name) }
        for _ in 0...max(0, configuration.redirects) {
            let reception: Reception
            do {
                reception = try await Reception.open(request, configuration, environment)
            } catch {
                throw Interruption(error.cause, keptLength: plan.keptLength)
            }
            guard Redirect.statuses.contains(reception.head.status) else { return reception }
            reception.end()
            do {
                request = try Redirect.next(after: request, to: reception.head["location"], configuration)
            } catch {
                throw Interruption(.failed(error), keptLength: plan.keptLength)
            }
        }
        throw Interruption(
            .failed(.tooManyRedirects(limit: configuration.redirects)), keptLength: plan.keptLength)
    }
}

extension RequestPlan {
    /// Bytes of content in the partial of the plan.
    fileprivate var keptLength: Int64 {
        switch self {
        case .whole, .newer: 0
        case .rest(let partial, _), .confirmation(let partial): partial.contentLength
        }
    }
}

func onCache<Value>(
    _ body: () async throws(CacheError) -> Value
) async throws(Interruption) -> Value {
    do {
        return try await body()
    } catch {
        throw Interruption(error == .cancelled ? .cancelled : .failed(.cache(error)))
    }
}

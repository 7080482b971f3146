public import Foundation
internal import PrefetchCaching
internal import Synchronization

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension PrefetchDownloader {
    /// The request to hand to a session of the app's own, whose file ``finish(_:fileAt:response:)`` then takes over: with
    /// the headers of a download of this downloader, and restricted to the same networks.
    ///
    /// ```swift
    /// let task = backgroundSession.downloadTask(with: downloader.urlRequest(for: request))
    /// ```
    public func urlRequest(for request: DownloadRequest) -> URLRequest {
        var urlRequest = request.urlRequest
        urlRequest.prepare(for: .whole)
        urlRequest.introduce(as: configuration.userAgent)
        urlRequest.restrict(to: configuration.conditions(for: request))
        return urlRequest
    }

    /// Takes over a file that another session has downloaded, such as a background session, whose downloads go on while
    /// the app does not run.
    ///
    /// ```swift
    /// switch await downloader.finish(request, fileAt: file, response: response) {
    /// case .failed(let error): log(error)  // the file is still there
    /// default: break
    /// }
    /// ```
    ///
    /// The file passes the checks of a download of this downloader, or is not stored: the URL of the request, and the one
    /// that the response came from, must be allowed; the status must be 200, or 206 if the session has resumed the
    /// download by itself and the file is complete; the content must not be encoded, and have the announced and the
    /// expected length and the expected digest. The redirects between the two URLs are unknown here, and not checked. The
    /// item gets the validator of the response. The content is admitted as that of ``prefetch(_:)-(DownloadRequest)``,
    /// and stored as by `PrefetchCache.store(moving:as:encoding:admission:)`.
    ///
    /// A bundle, which is several files, cannot be finished like this: the outcome is a failure.
    ///
    /// The call may be repeated: an item that has the version of the response is not stored twice.
    ///
    /// - Parameters:
    ///   - request: The one that the request of the session was made from, by ``urlRequest(for:)``.
    ///   - file: Move it out of the way first in `urlSession(_:downloadTask:didFinishDownloadingTo:)`: the session
    ///     removes it when that returns.
    ///   - response: The response of the task. One that was saved can be made again of its URL, status and headers.
    /// - Returns: The outcome of the download. After `stored`, `delivered`, `notModified`, `alreadyCached` and
    ///   `alreadyPromoted` the file is gone; after all others it is where it was, and as it was.
    public func finish(_ request: DownloadRequest, fileAt file: URL, response: URLResponse) async
        -> DownloadOutcome
    {
        await withRun(of: request) { await $0.finish(file, ResponseHead(response), from: response.url) }
    }
}

extension DownloadRun {
    /// - Parameters:
    ///   - head: `nil` for a response that is not one of HTTP.
    ///   - url: Where the response came from.
    fileprivate func finish(_ file: URL, _ head: ResponseHead?, from url: URL?) async -> DownloadOutcome {
        do {
            try requireAllowed()
            guard request.files.isEmpty else { throw DownloadError.Reason.bundleRequest }
            guard let head, let url, let requested = request.urlRequest.url else {
                throw DownloadError.Reason.connection(.malformed)
            }
            if url != requested { try Redirect.require(url, after: requested, configuration) }
            let isSecure = url.scheme?.lowercased() == "https"
            return try await finish(file, head, isSecure: isSecure)
        } catch {
            guard let reason = AttemptFailure(error).reason else { return .cancelled(keptBytes: 0) }
            return failed(self.error(reason))
        }
    }

    private func finish(_ file: URL, _ head: ResponseHead, isSecure: Bool) async throws -> DownloadOutcome {
        let now = environment.now()
        let cached = try await itemToKeep()
        let plan = cached.map { RequestPlan.newer(than: $0.validator) } ?? .whole
        let length: Int64?
        switch ResponsePlan(ofFile: head, isSecure: isSecure, to: plan, expecting: expected, now: now) {
        case .notModified: return try await drop(file, .notModified)
        case .store(let announced, nil): length = announced
        // Whether the session has undone it is not known.
        case .store(_, .some): throw DownloadError.Reason.encoded(head.encoding ?? "")
        case .fail(let reason): throw reason
        // Only for plans with a partial.
        case .append, .complete, .restart: throw DownloadError.Reason.partialLost
        }
        if request.whenPromoted == .leave, let promoted = try await promoted() {
            return try await drop(file, .alreadyPromoted(promoted), fetched: length)
        }
        let validator = Validator(head)
        if let cached {
            if expected.digest != nil || request.whenCached == .keep {
                return try await drop(file, .alreadyCached, fetched: length)
            }
            if !validator.isEmpty, cached.validator == validator {
                return try await drop(file, .notModified, fetched: length)
            }
        }
        if request.intent == .opportunistic,
            let refusal = try await cache.refusal(
                of: request.metadata(Validator()), expectedLength: length, on: job.terms)
        {
            return try await refused(refusal, keptBytes: 0)
        }
        return try await store(file, as: request.metadata(validator), announced: length)
    }

    private func store(_ file: URL, as metadata: ItemMetadata, announced: Int64?) async throws
        -> DownloadOutcome
    {
        let isKnown = try await cache.remembersStored(request.key)
        let problem = Problem()
        let stored: StoreOutcome
        do {
            stored = try await cache.store(
                moving: file, as: metadata, whenPromoted: request.whenPromoted, on: job.terms
            ) { [expected] in
                ContentCheck(announced: announced, expected: expected, noting: problem)
            }
        } catch {
            throw problem.reason ?? error
        }
        switch stored {
        case .stored(let summary):
            await count(summary.contentBytes)
            return .stored(summary)
        case .delivered(let delivered):
            await count(delivered.contentBytes)
            // That of an earlier prefetch.
            try await cache.discardPartial(of: request.key)
            return .delivered(delivered)
        case .refused(let refusal): return try await refused(refusal, keptBytes: 0)
        }
        func count(_ bytes: Int64) async {
            await countFetched(bytes, again: isKnown ? bytes : 0, inVain: 0)
        }
    }

    /// Removes a file whose content is not needed. The user is waiting for content that is cached already.
    ///
    /// - Parameter length: Bytes that were fetched in vain, if known.
    private func drop(_ file: URL, _ outcome: DownloadOutcome, fetched length: Int64? = nil) async throws
        -> DownloadOutcome
    {
        var outcome = outcome
        switch outcome {
        case .notModified, .alreadyCached:
            if request.intent == .userRequested, let opened = try await cache.open(request.key) {
                outcome = .delivered(opened)
            }
        default: break
        }
        try await cache.discard(file)
        await countFetched(length ?? 0, again: length ?? 0, inVain: length ?? 0)
        return outcome
    }
}

extension ResponsePlan {
    /// What to do with the file of a session that may have resumed the download by itself: its response is the last one
    /// then, to the request for the rest, and the file is whole if that is the rest.
    fileprivate init(
        ofFile head: ResponseHead, isSecure: Bool, to plan: RequestPlan, expecting expected: Expectations,
        now: Int64
    ) {
        guard head.status == 206, head.encoding == nil, let range = head.contentRange,
            range.bytes.upperBound == range.total
        else {
            self.init(head, isSecure: isSecure, to: plan, expecting: expected, now: now)
            return
        }
        if let length = expected.length, length != range.total {
            self = .fail(.wrongLength(expected: length, actual: range.total))
        } else {
            self = .store(length: range.total, encoding: nil)
        }
    }
}

/// Why content was not accepted.
private final class Problem: Sendable {
    private let noted = Mutex<DownloadError.Reason?>(nil)

    var reason: DownloadError.Reason? { noted.withLock { $0 } }

    func require(_ isFine: Bool, _ reason: DownloadError.Reason) throws(CacheError) {
        guard !isFine else { return }
        noted.withLock { $0 = reason }
        // Ends the store; the reason is reported instead.
        throw .cancelled
    }
}

extension ContentCheck {
    fileprivate init(announced: Int64?, expected: Expectations, noting problem: Problem) {
        let digest = ContentDigest(for: expected)
        self.init(
            begin: { length throws(CacheError) in
                if let announced {
                    try problem.require(
                        length >= announced, .truncated(received: length, announced: announced))
                    try problem.require(
                        length <= announced, .tooLong(received: length, announced: announced))
                }
                if let wanted = expected.length {
                    try problem.require(length == wanted, .wrongLength(expected: wanted, actual: length))
                }
            },
            look: { digest.update($0) },
            finish: { () throws(CacheError) in
                if let reason = digest.finish() { try problem.require(false, reason) }
            })
    }
}

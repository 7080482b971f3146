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
        urlRequest.introduce(as: configuration.userAgent, under: configuration.conditions(for: request))
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
    /// item gets the validator of the response, and replaces one that is cached. It is stored as by
    /// `PrefetchCache.store(contentsOf:as:encoding:admission:)`.
    ///
    /// A bundle, which is several files, cannot be finished like this: the outcome is a failure.
    ///
    /// - Parameters:
    ///   - request: The one that the request of the session was made from, by ``urlRequest(for:)``.
    ///   - file: Move it out of the way first in `urlSession(_:downloadTask:didFinishDownloadingTo:)`: the session
    ///     removes it when that returns.
    ///   - response: The response of the task. One that was saved can be made again of its URL, status and headers.
    /// - Returns: The outcome of the download. After `stored` and `delivered` the file is gone, unless it was changed meanwhile;
    ///   after all others it is where it was, and as it was.
    public func finish(_ request: DownloadRequest, fileAt file: URL, response: URLResponse) async
        -> DownloadOutcome
    {
        let terms = AdmissionTerms(request.admission ?? configuration.admission)
        let run = run(DownloadJob(request, number: 0, on: terms))
        do {
            return try await run.finish(file, ResponseHead(response), from: response.url)
        } catch {
            guard let reason = AttemptFailure(error).reason else { return .cancelled(keptBytes: 0) }
            return run.failed(run.error(reason))
        }
    }
}

extension DownloadRun {
    /// - Parameters:
    ///   - head: `nil` for a response that is not one of HTTP.
    ///   - url: Where the response came from.
    fileprivate func finish(_ file: URL, _ head: ResponseHead?, from url: URL?) async throws
        -> DownloadOutcome
    {
        try requireAllowed()
        guard request.files.isEmpty else { throw DownloadError.Reason.bundleRequest }
        guard let head, let url, let requested = request.urlRequest.url else {
            throw DownloadError.Reason.connection(.malformed)
        }
        if url != requested { try Redirect.require(url, after: requested, configuration) }
        let announced = try announcedLength(head, isSecure: url.scheme?.lowercased() == "https")
        let isKnown = try await cache.remembersStored(request.key)
        let problem = Mutex<DownloadError.Reason?>(nil)
        let digest = ContentDigest(for: expected)
        // Ends the store; the reason is reported instead.
        @Sendable func end(for reason: DownloadError.Reason?) throws(CacheError) {
            guard let reason else { return }
            problem.withLock { $0 = reason }
            throw .cancelled
        }
        let stored: StoreOutcome
        do {
            stored = try await cache.store(
                handedOver: file, as: request.metadata(Validator(head)), whenPromoted: request.whenPromoted,
                on: job.terms,
                checking: ContentCheck(
                    begin: { [expected] length throws(CacheError) in
                        try end(for: expected.problem(of: length, announced: announced))
                    },
                    look: { digest.update($0) },
                    finish: { () throws(CacheError) in try end(for: digest.finish()) }))
        } catch {
            throw problem.withLock(\.self) ?? error
        }
        let bytes: Int64
        let outcome: DownloadOutcome
        switch stored {
        case .stored(let summary): (bytes, outcome) = (summary.contentBytes, .stored(summary))
        case .delivered(let delivered):
            (bytes, outcome) = (delivered.contentBytes, .delivered(delivered))
            // That of an earlier prefetch.
            try await cache.discardPartial(of: request.key)
        case .refused(let refusal): return try await refused(refusal, keptBytes: 0)
        }
        await countFetched(bytes, again: isKnown ? bytes : 0, inVain: 0)
        return outcome
    }

    /// The length of the whole content; `nil` if it is unknown. A session may have resumed the download by itself: its response
    /// is the last one then, to the request for the rest, and the file is whole if that is the rest.
    private func announcedLength(_ head: ResponseHead, isSecure: Bool) throws(DownloadError.Reason) -> Int64?
    {
        if head.status == 206, head.encoding == nil, let range = head.contentRange,
            range.bytes.upperBound == range.total
        {
            return range.total
        }
        // Whether the session has undone an encoding is not known.
        return try ResponsePlan(head, isSecure: isSecure, to: .whole, expecting: expected).lengthAsSent(head)
    }
}

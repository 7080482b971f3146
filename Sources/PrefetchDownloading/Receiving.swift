internal import Foundation
internal import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Writes content, whose beginning may be that of an earlier download.
struct ContentWriter {
    let writer: CacheWriter
    /// Already includes the content of the earlier download.
    let digest: ContentDigest
    let isResumed: Bool

    init(_ writer: CacheWriter, _ digest: ContentDigest) {
        (self.writer, self.digest, isResumed) = (writer, digest, writer.contentBytes > 0)
    }
}

/// Sending a request, and storing what comes.
extension DownloadRun {
    /// Sends a request, and follows redirects.
    func send(_ request: URLRequest) async throws -> (ResponseHead, Exchange) {
        if let refusal = slots.refusal(of: entry.host) { throw refusal }
        var request = request
        var cookies = ChainCookies()
        request.introduce(as: configuration.userAgent, under: job.conditions)
        try await keeper.require(job.conditions)
        for _ in 0...max(0, configuration.redirects) {
            let exchange = environment.transport.start(cookies.added(to: request))
            stalls.watch(exchange) { [slots, host = entry.host] in slots.areAwaited(for: host) }
            let head = try await exchange.head()
            guard Redirect.statuses.contains(head.status) else { return (head, exchange) }
            exchange.cancel()
            cookies.take(from: head, at: request.url)
            request = try Redirect.next(after: request, to: head["location"], configuration)
        }
        throw DownloadError.Reason.tooManyRedirects(limit: configuration.redirects)
    }

    /// - Parameter content: Receives the rest if `plan` is ``RequestPlan/rest(_:)``, and is kept until there is something in its
    ///   place.
    func perform(
        _ plan: RequestPlan, in attempt: Attempt, resuming content: ContentWriter? = nil
    ) async throws -> DownloadOutcome {
        let (head, exchange): (ResponseHead, Exchange)
        do {
            var request = request.urlRequest
            request.prepare(for: plan, acceptsEncoded: attempt.acceptsEncoded)
            (head, exchange) = try await send(request)
        } catch {
            throw try await end(content, after: error)
        }
        defer { exchange.cancel() }
        let context = BodyContext(
            names: names + [exchange.name].compactMap(\.self), isMeantOtherwise: attempt.isMeantOtherwise)
        switch ResponsePlan(
            head, isSecure: exchange.isSecure, to: plan, in: context, expecting: expected)
        {
        case .notModified:
            await exchange.drain()
            if request.whenPromoted == .replaceIfUnmodified, let file = try await promoted() {
                return .alreadyPromoted(file)
            }
            // The item may have been evicted in the meantime.
            let isThere = try await cache.description(of: request.key) != nil
            return isThere ? .notModified : try await perform(.whole, in: attempt)
        case .restart:
            exchange.cancel()
            return try await perform(.whole, in: attempt, resuming: content)
        case .fail(let reason): throw try await end(content, after: reason)
        case .append(let total):
            guard let content else { throw DownloadError.Reason.partialLost }
            job.emit(.resumed(at: content.writer.contentBytes))
            return try await receive(into: content, announced: total, from: exchange.content())
        case .store(let length, let isEncoded):
            let pieces = exchange.content(isGzip: isEncoded && !head.isDecoded)
            // The partial is not part of the server's version.
            try await content?.writer.cancel()
            let metadata = request.metadata(Validator(head))
            if let length { job.terms.turn?.noteLength(length) }
            // Without a strong validator, a partial could not be distinguished from that of another version.
            let keepsPartial = metadata.validator.isStrong(in: head)
            return try await store(metadata, of: length, keepingPartial: keepsPartial) { content in
                do {
                    return try await receive(
                        into: content, announced: isEncoded ? nil : length, from: pieces)
                } catch var failure as AttemptFailure {
                    failure.wasEncoded = isEncoded
                    failure.mayBeMeantOtherwise =
                        expected.digest != nil && head.isGzip && !head.isDecoded
                    // Nothing else can be asked for.
                    if failure.reason == .undecodable, !attempt.acceptsEncoded, let name = head.encoding {
                        failure.cause = .failed(.encoded(name))
                    }
                    throw failure
                }
            }
        }
    }

    /// Stores what is received, and completes the item if it is as expected.
    ///
    /// - Parameters:
    ///   - announced: The announced length of the whole content in bytes; `nil` if unknown.
    ///   - source: Returns the next piece of the content, or `nil` after the last one.
    func receive(
        into content: ContentWriter, announced: Int64?, from source: () async throws -> ReceivedPiece?
    ) async throws -> DownloadOutcome {
        let total = announced ?? expected.length
        var length = content.writer.contentBytes
        func next() async throws -> ReceivedPiece? {
            // What has arrived is stored.
            if length < announced ?? .max { try await keeper.require(job.conditions) }
            do {
                return try await source()
            } catch DownloadError.Reason.connection(let failure) where !Task.isCancelled {
                if let announced {
                    throw DownloadError.Reason.truncated(received: length, announced: announced)
                }
                throw DownloadError.Reason.connection(failure == .other ? .connectionLost : failure)
            }
        }
        do {
            job.beginFetching(at: length, isKnown: try await cache.remembersStored(request.key))
            // Stored with the commit, in one call.
            var last = Data()
            while let piece = try await next() {
                job.noteFetched(piece, at: length)
                // One at the end must not take the place of the last bytes.
                if piece.content.isEmpty { continue }
                length += Int64(piece.content.count)
                if let total, length > total {
                    throw DownloadError.Reason.tooLong(received: length, announced: total)
                }
                try content.digest.add(piece.content)
                if length == announced {
                    last = piece.content
                    continue
                }
                if let refusal = try await content.writer.write(piece.content) {
                    return try await refused(refusal, keptBytes: try await keptBytes())
                }
                job.emit(.progress(DownloadProgress(completedBytes: length, totalBytes: total)))
            }
            if let problem = expected.problem(of: length, announced: announced) ?? content.digest.finish() {
                throw problem
            }
            let outcome: DownloadOutcome
            switch try await content.writer.commit(appending: last) {
            case .stored(let summary): outcome = .stored(summary)
            case .delivered(let file): outcome = .delivered(file)
            case .refused(let refusal):
                return try await refused(refusal, keptBytes: try await keptBytes())
            }
            if !last.isEmpty {
                job.emit(.progress(DownloadProgress(completedBytes: length, totalBytes: total)))
            }
            // It says something of what follows in the list.
            if announced == nil { job.terms.turn?.noteLength(length) }
            return outcome
        } catch {
            throw try await end(content, after: error)
        }
    }

    /// - Parameters:
    ///   - length: The announced length of the content in bytes; `nil` if unknown.
    ///   - files: Those of a bundle.
    func store(
        _ metadata: ItemMetadata, of length: Int64?, _ files: [BundlePlan.File] = [],
        keepingPartial keepsPartial: Bool, _ body: (ContentWriter) async throws -> DownloadOutcome
    ) async throws -> DownloadOutcome {
        let begun = try await cache.beginStoring(
            metadata, expectedLength: length, keepingPartial: keepsPartial,
            whenPromoted: request.whenPromoted, on: job.terms)
        switch begun {
        case .refused(let refusal): return try await refused(refusal, keptBytes: 0)
        case .writer(let writer):
            return try await body(ContentWriter(writer, ContentDigest(for: expected, files)))
        }
    }

    func resume(
        _ partial: ResumablePartial, _ files: [BundlePlan.File] = [],
        _ body: (ContentWriter) async throws -> DownloadOutcome
    ) async throws -> DownloadOutcome {
        let digest = ContentDigest(for: expected, files)
        switch try await cache.resumeStoring(
            partial, whenPromoted: request.whenPromoted, on: job.terms, replay: { digest.update($0) })
        {
        case .refused(let refusal): return try await refused(refusal, keptBytes: partial.contentBytes)
        case .gone: throw DownloadError.Reason.partialLost
        case .writer(let writer):
            guard writer.contentBytes == partial.contentBytes else {
                // The end of the partial was damaged and dropped. The next attempt requests what is missing.
                throw AttemptFailure(.failed(.partialLost), keptBytes: try await writer.keep())
            }
            return try await body(ContentWriter(writer, digest))
        }
    }

    func refused(_ refusal: Refusal, keptBytes: Int64) async throws -> DownloadOutcome {
        guard refusal == .alreadyPromoted else { return .refused(refusal, keptBytes: keptBytes) }
        // Opened since the lookup.
        guard let item = try await promoted() else { return .refused(refusal, keptBytes: 0) }
        return .alreadyPromoted(item)
    }

    /// Ends a request and the writer of its content, keeping the partial if it may be part of the content.
    ///
    /// - Returns: The failure, with the number of bytes kept.
    private func end(_ content: ContentWriter?, after error: any Error) async throws -> AttemptFailure {
        var failure = AttemptFailure(error)
        guard let content else { return failure }
        failure.wasResumed = content.isResumed
        do throws(CacheError) {
            switch failure.reason {
            // The writer has already discarded the item.
            case .cache?: break
            case let reason? where !reason.keepsPartial: try await content.writer.cancel()
            default: failure.keptBytes = try await content.writer.keep()
            }
        } catch {
            // If the download was cancelled with the cache, the partial was kept when that was closed.
            guard failure.reason == nil, [.closed, .suspended, .writerIsFinished].contains(error) else {
                throw error
            }
        }
        return failure
    }
}

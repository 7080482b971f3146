internal import Foundation
internal import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The content of a key that is here, cached or opened, of which the server may have a newer version.
struct PresentContent {
    /// Empty if the server did not say which version it is.
    let validator: Validator
    /// In milliseconds since 1970; 0 for what was opened.
    var storedAt: Int64 = 0
}

/// Sending a request, and storing what comes.
extension DownloadRun {
    /// Sends a request, and follows redirects.
    func send(_ request: URLRequest) async throws -> (ResponseHead, Exchange) {
        if let refusal = slots.refusal(of: entry.host) { throw refusal }
        var request = request
        var cookies = ChainCookies()
        request.introduce(as: configuration.userAgent)
        try await keeper.require(job.conditions)
        request.restrict(to: job.conditions)
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

    /// - Parameter content: Receives the rest if `plan` is ``RequestPlan/rest(of:condition:)``, and is kept until there is
    ///   something in its place.
    func perform(
        _ plan: RequestPlan, in attempt: Attempt, resuming content: ContentWriter? = nil
    ) async throws -> DownloadOutcome {
        let (head, exchange): (ResponseHead, Exchange)
        do {
            var request = request.urlRequest
            request.prepare(for: plan, acceptsEncoded: attempt.acceptsEncoded)
            (head, exchange) = try await send(request)
        } catch {
            throw try await end(content, keeping: plan.keptBytes, after: error)
        }
        defer { exchange.cancel() }
        let response = ResponsePlan(
            head, isSecure: exchange.isSecure, to: plan,
            in: BodyContext(
                names: names + [exchange.name].compactMap(\.self),
                isMeantOtherwise: attempt.isMeantOtherwise),
            expecting: expected)
        switch response {
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
        case .fail(let reason): throw try await end(content, keeping: plan.keptBytes, after: reason)
        case .complete(let partial):
            await exchange.drain()
            return try await resume(partial) { try await receive(into: $0, announced: nil, from: { nil }) }
        case .append(let total):
            guard let content else { throw DownloadError.Reason.partialLost }
            job.emit(.resumed(at: plan.keptBytes))
            return try await receive(into: content, announced: total, from: exchange.content())
        case .store(let length, let encoding):
            let pieces = exchange.content(encodedBy: head.isDecoded ? nil : encoding)
            // The partial is not part of the server's version.
            try await content?.writer.cancel()
            if case .confirmation = plan { try await cache.discardPartial(of: request.key) }
            let metadata = request.metadata(Validator(head))
            if let length { job.terms.turn?.noteLength(length) }
            // Without a strong validator, a partial could not be distinguished from that of another version.
            let keepsPartial = metadata.validator.isStrong(in: head)
            return try await store(metadata, of: length, keepingPartial: keepsPartial) { content in
                do {
                    return try await receive(
                        into: content, announced: encoding == nil ? length : nil, from: pieces)
                } catch var failure as AttemptFailure {
                    failure.wasEncoded = encoding != nil
                    failure.mayBeMeantOtherwise =
                        expected.digest != nil && head.decodableCoding != nil && !head.isDecoded
                    // Nothing else can be asked for.
                    if failure.reason == .undecodable, !attempt.acceptsEncoded, let name = head.encoding {
                        failure.cause = .failed(.encoded(name))
                    }
                    throw failure
                }
            }
        }
    }

    /// Stores what is received, and completes the item.
    ///
    /// - Parameters:
    ///   - announced: The announced length of the whole content in bytes; `nil` if unknown.
    ///   - next: Returns the next piece of the content, or `nil` after the last one.
    func receive(
        into content: ContentWriter, announced: Int64?, from next: () async throws -> ReceivedPiece?
    ) async throws -> DownloadOutcome {
        let stored: StoreOutcome
        var received = content.writer.contentBytes
        do {
            job.beginFetching(at: received, isKnown: try await cache.remembersStored(request.key))
            stored = try await content.writeAll(
                announced: announced, progress: { job.emit(.progress($0)) },
                from: {
                    do {
                        while true {
                            // What has arrived is stored.
                            if received < announced ?? .max {
                                try await keeper.require(job.conditions)
                            }
                            guard let piece = try await next() else { return nil }
                            job.noteFetched(piece, at: received)
                            received += Int64(piece.content.count)
                            if !piece.content.isEmpty { return piece.content }
                        }
                    } catch DownloadError.Reason.connection(let failure) where !Task.isCancelled {
                        if let announced {
                            throw DownloadError.Reason.truncated(received: received, announced: announced)
                        }
                        throw DownloadError.Reason.connection(failure == .other ? .connectionLost : failure)
                    }
                })
        } catch {
            throw try await end(content, after: error)
        }
        // It says something of what follows in the list.
        if announced == nil { job.terms.turn?.noteLength(received) }
        switch stored {
        case .stored(let summary): return .stored(summary)
        case .delivered(let file): return .delivered(file)
        case .refused(let refusal):
            return try await refused(
                refusal,
                keptBytes: try await keptBytes())
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
            return try await body(ContentWriter(writer, ContentDigest(for: expected, files), expected))
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
            return try await body(ContentWriter(writer, digest, expected))
        }
    }

    func refused(_ refusal: Refusal, keptBytes: Int64) async throws -> DownloadOutcome {
        guard refusal == .alreadyPromoted else { return .refused(refusal, keptBytes: keptBytes) }
        // Opened since the lookup.
        guard let item = try await promoted() else { return .refused(refusal, keptBytes: 0) }
        return .alreadyPromoted(item)
    }

    /// Ends a request or the writer of its content, keeping the partial if it may be part of the content.
    ///
    /// - Parameter keptBytes: The length of the partial if there is no writer.
    /// - Returns: The failure, with the number of bytes kept.
    private func end(
        _ content: ContentWriter?, keeping keptBytes: Int64 = 0, after error: any Error
    ) async throws -> AttemptFailure {
        var failure = AttemptFailure(error)
        let keepsPartial = failure.reason?.keepsPartial ?? true
        guard let content else {
            if keepsPartial {
                failure.keptBytes = keptBytes
            } else {
                try await cache.discardPartial(of: request.key)
            }
            return failure
        }
        failure.wasResumed = content.isResumed
        do throws(CacheError) {
            failure.keptBytes = try await content.end(after: failure.reason)
        } catch {
            // If the download was cancelled with the cache, the partial was kept when that was closed.
            guard failure.reason == nil, [.closed, .suspended, .writerIsFinished].contains(error) else {
                throw error
            }
        }
        return failure
    }
}

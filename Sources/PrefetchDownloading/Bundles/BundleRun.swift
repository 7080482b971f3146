internal import Crypto
internal import Foundation
internal import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Downloading a bundle.
extension DownloadRun {
    /// Asks for the lengths and versions of all files, and downloads them one after the other unless this very version is
    /// cached. What is kept of it is continued.
    ///
    /// - Parameter present: The bundle that is here.
    func downloadBundle(unless present: PresentContent?, under conditions: DownloadConditions) async throws
        -> DownloadOutcome
    {
        let plan = try await bundlePlan(under: conditions)
        var metadata = request.metadata(plan.validator)
        metadata.parts = plan.parts
        do {
            try metadata.validate()
        } catch {
            throw DownloadError.Reason.cache(.item(error))
        }
        if let present {
            if !present.validator.isEmpty, present.validator == plan.validator { return .notModified }
            if plan.validator.isEmpty, present.validator.isEmpty, present.parts == plan.parts,
                plan.length > RequestPlan.longestFetchedAnew
            {
                let transfer = transfer(plan, from: 0, PartDigests(plan), under: conditions)
                defer { transfer.cancel() }
                let (sameBytes, _) = try await compareBeginning {
                    try await transfer.next().map(ReceivedPiece.init)
                }
                if let sameBytes { return .seeminglyUnchanged(comparedBytes: sameBytes) }
            }
        }
        if let partial = try await cache.partial(of: request.key, for: partialIntent) {
            if !plan.validator.isEmpty, partial.metadata.validator == plan.validator,
                partial.metadata.parts == plan.parts, request.agrees(with: partial.metadata)
            {
                return try await resumeBundle(plan, after: partial, under: conditions)
            }
            try await cache.discardPartial(of: request.key)
        }
        let begun = try await cache.beginStoring(
            metadata, expectedLength: plan.length, keepingPartial: !plan.validator.isEmpty,
            whenPromoted: request.whenPromoted, on: job.terms)
        switch begun {
        case .refused(let refusal): return try await refused(refusal, keptBytes: 0)
        case .writer(let writer):
            let content = ContentWriter(
                writer: writer, isResumed: false, digest: ContentDigest(for: expected), expected: expected)
            return try await receive(plan, into: content, PartDigests(plan), under: conditions)
        }
    }

    private func resumeBundle(
        _ plan: BundlePlan, after partial: ResumablePartial, under conditions: DownloadConditions
    ) async throws -> DownloadOutcome {
        let digests = PartDigests(plan)
        return try await resume(partial, replaying: { digests.update($0) }) { content in
            job.emit(.resumed(at: content.writer.contentBytes))
            return try await receive(plan, into: content, digests, under: conditions)
        }
    }

    private func receive(
        _ plan: BundlePlan, into content: ContentWriter, _ digests: PartDigests,
        under conditions: DownloadConditions
    ) async throws -> DownloadOutcome {
        let transfer = transfer(plan, from: content.writer.contentBytes, digests, under: conditions)
        defer { transfer.cancel() }
        return try await receive(into: content, announced: plan.length) {
            try await transfer.next().map(ReceivedPiece.init)
        }
    }

    private func transfer(
        _ plan: BundlePlan, from offset: Int64, _ digests: PartDigests, under conditions: DownloadConditions
    ) -> BundleTransfer {
        BundleTransfer(plan, from: offset, digests) { file, offset in
            var request = file.urlRequest
            request.prepare(for: .whole)
            if offset > 0 {
                request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range")
                request.setValue(
                    file.isStrong ? file.validator.rangeCondition(now: environment.now()) : nil,
                    forHTTPHeaderField: "If-Range")
            }
            let (head, exchange) = try await send(request, under: conditions)
            guard head.status == 200 || head.status == 206 else {
                exchange.cancel()
                let reason = DownloadError.Reason.status(
                    head.status, retryAfter: head.retryAfter(now: environment.now()))
                // Then it starts over.
                throw offset > 0 && reason.mayBeOfTheRange
                    ? .wrongRange(head["content-range"] ?? "none") : reason
            }
            return (head, exchange)
        }
    }

    private func bundlePlan(under conditions: DownloadConditions) async throws -> BundlePlan {
        var files: [BundlePlan.File] = []
        for file in request.files {
            let expected = file.expected
            if let length = expected.length, expected.digest != nil {
                files.append(
                    BundlePlan.File(
                        path: file.path, urlRequest: file.urlRequest, length: length, expected: expected,
                        validator: Validator(), isStrong: false))
                continue
            }
            let head = try await head(of: file, under: conditions)
            try head.requireAsSent(file.path, file.urlRequest)
            if head.hasMalformedLength { throw DownloadError.Reason.connection(.malformed) }
            guard let length = head.contentLength ?? expected.length else {
                throw DownloadError.Reason.unknownLength(file.path.string)
            }
            if let expected = expected.length, expected != length {
                throw DownloadError.Reason.wrongLength(expected: expected, actual: length)
            }
            if length == 0, let digest = expected.digest {
                // No byte of it will come whose arrival would be noticed.
                let actual = Array(SHA256().finalize())
                if actual != digest {
                    throw DownloadError.Reason.wrongDigest(expected: digest, actual: actual)
                }
            }
            let now = environment.now()
            let validator = Validator(head)
            files.append(
                BundlePlan.File(
                    path: file.path, urlRequest: file.urlRequest, length: length, expected: expected,
                    validator: validator, isStrong: validator.isStrong(in: head, now: now)))
        }
        return BundlePlan(files: files)
    }

    /// The head of the response that a file would have. A server that does not tell without the content is asked for that,
    /// and left.
    private func head(of file: BundleFile, under conditions: DownloadConditions) async throws -> ResponseHead
    {
        var request = file.urlRequest
        request.prepare(for: .whole)
        request.httpMethod = "HEAD"
        let (head, exchange) = try await send(request, under: conditions)
        await exchange.drain()
        if head.status == 200, head.contentLength != nil, file.expected.unwelcomeType(of: head) == nil {
            return head
        }
        request.httpMethod = "GET"
        let (full, body) = try await send(request, under: conditions)
        body.cancel()
        guard full.status == 200 else {
            throw DownloadError.Reason.status(
                full.status, retryAfter: full.retryAfter(now: environment.now()))
        }
        if let type = file.expected.unwelcomeType(of: full) {
            throw DownloadError.Reason.wrongMediaType(type)
        }
        return full
    }
}

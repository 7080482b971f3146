internal import Foundation
internal import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The files of a bundle, as their servers have them now.
struct BundlePlan: Sendable {
    struct File: Sendable {
        /// With the length, if that was not expected.
        let file: BundleFile
        let length: Int64
        /// The version that the server had; empty if it was not asked.
        var validator = Validator()
        /// Whether equal validators mean equal bytes.
        var isStrong = false

        init(_ file: BundleFile, length: Int64) {
            var file = file
            file.expectations.append(.length(length))
            (self.file, self.length) = (file, length)
        }
    }

    let files: [File]

    /// Bytes of all files, which have been validated.
    var length: Int64 { files.reduce(0) { $0 + $1.length } }

    var parts: [BundlePart] { files.map { BundlePart($0.file.path, contentBytes: $0.length) } }

    /// A strong validator of them all, so that what is kept of one version is not continued with another; empty if the
    /// version of one of them cannot be told.
    var validator: Validator {
        guard files.allSatisfy({ $0.file.expected.digest != nil || $0.isStrong }) else { return Validator() }
        var versions = Data()
        for file in files {
            let version =
                file.file.expected.digest?.hexadecimal ?? file.validator.entityTag
                ?? file.validator.lastModified ?? ""
            versions += Data("\(file.file.path)\n\(file.length)\n\(version)\n".utf8)
        }
        return Validator(entityTag: "\"bundle-\(SHA256.digest(of: versions).hexadecimal)\"")
    }
}

/// Downloading a bundle.
extension DownloadRun {
    /// Downloads all files one after the other, unless this very version is cached. What is kept of it is continued.
    ///
    /// - Parameter present: The validator of the bundle that is here.
    func downloadBundle(unless present: Validator?) async throws -> DownloadOutcome {
        var files: [BundlePlan.File] = []
        for file in request.files { files.append(try await probe(file)) }
        let plan = BundlePlan(files: files)
        var metadata = request.metadata(plan.validator)
        metadata.parts = plan.parts
        do {
            try metadata.validate()
        } catch {
            throw DownloadError.Reason.cache(.item(error))
        }
        if !plan.validator.isEmpty, present == plan.validator { return .notModified }
        func receive(into content: ContentWriter) async throws -> DownloadOutcome {
            let transfer = BundleTransfer(plan, from: content.writer.contentBytes, by: self)
            defer { transfer.cancel() }
            return try await self.receive(into: content, announced: plan.length, from: transfer.next)
        }
        if let partial = try await cache.partial(of: request.key, for: partialIntent) {
            if !plan.validator.isEmpty, partial.metadata.validator == plan.validator,
                partial.metadata.parts == plan.parts, request.agrees(with: partial.metadata)
            {
                return try await resume(partial, plan.files) { content in
                    job.emit(.resumed(at: content.writer.contentBytes))
                    return try await receive(into: content)
                }
            }
            try await cache.discardPartial(of: request.key)
        }
        return try await store(
            metadata, of: plan.length, plan.files, keepingPartial: !plan.validator.isEmpty, receive)
    }

    /// Asks for the length and the version of a file, unless its length and its digest are expected. A server that does not
    /// tell without the content is asked for that, and left.
    private func probe(_ file: BundleFile) async throws -> BundlePlan.File {
        if let length = file.expected.length, file.expected.digest != nil {
            return BundlePlan.File(file, length: length)
        }
        var request = file.urlRequest
        request.prepare(for: .whole)
        request.httpMethod = "HEAD"
        var (head, exchange) = try await send(request)
        await exchange.drain()
        var response = file.response(head, exchange)
        if case .store(_?, false) = response {
        } else {
            request.httpMethod = "GET"
            (head, exchange) = try await send(request)
            exchange.cancel()
            response = file.response(head, exchange)
        }
        guard response != .fail(.undelimitedBody), let length = try response.lengthAsSent(head) else {
            throw DownloadError.Reason.unknownLength(file.path.string)
        }
        var planned = BundlePlan.File(file, length: length)
        planned.validator = Validator(head)
        planned.isStrong = planned.validator.isStrong(in: head)
        return planned
    }
}

/// The content of a bundle, requested file by file, from an offset on.
///
/// Used by one task.
private final class BundleTransfer {
    private let run: DownloadRun
    private var files: ArraySlice<BundlePlan.File>
    /// In the first of these files.
    private var position: Int64
    private var exchange: Exchange?
    /// Bytes to pass over: the server has sent the whole file.
    private var excess: Int64 = 0

    /// - Parameter offset: In the content of the bundle.
    init(_ plan: BundlePlan, from offset: Int64, by run: DownloadRun) {
        (self.run, files, position) = (run, plan.files[...], offset)
        while let file = files.first, position >= file.length {
            position -= file.length
            files.removeFirst()
        }
    }

    /// The next piece; `nil` after the last one.
    ///
    /// - Throws: ``DownloadError/Reason``.
    func next() async throws -> ReceivedPiece? {
        while let file = files.first {
            guard position < file.length else {
                await exchange?.drain()
                exchange = nil
                files.removeFirst()
                position = 0
                continue
            }
            guard let piece = try await open(file).next() else {
                throw DownloadError.Reason.truncated(received: position, announced: file.length)
            }
            let skipped = min(excess, Int64(piece.count))
            excess -= skipped
            let rest = piece.dropFirst(Int(skipped))
            guard !rest.isEmpty else { continue }
            position += Int64(rest.count)
            guard position <= file.length else {
                throw DownloadError.Reason.tooLong(received: position, announced: file.length)
            }
            return ReceivedPiece(rest)
        }
        return nil
    }

    private func open(_ file: BundlePlan.File) async throws -> Exchange {
        if let exchange { return exchange }
        var plan = RequestPlan.whole
        if position > 0 {
            plan = .rest(
                RequestPlan.Rest(
                    offset: position, validator: file.validator, total: file.length,
                    condition: file.isStrong ? file.validator.rangeCondition : nil))
        }
        while true {
            var request = file.file.urlRequest
            request.prepare(for: plan)
            let (head, exchange) = try await run.send(request)
            self.exchange = exchange
            switch file.file.response(head, exchange, to: plan) {
            case .append:
                excess = 0
                return exchange
            case .restart:
                exchange.cancel()
                plan = .whole
            case .fail(.wrongLength): throw DownloadError.Reason.changed(file.file.path.string)
            case let response:
                _ = try response.lengthAsSent(head)
                guard file.isSameVersion(head) else {
                    throw DownloadError.Reason.changed(file.file.path.string)
                }
                excess = position
                return exchange
            }
        }
    }

    func cancel() { exchange?.cancel() }
}

extension BundleFile {
    fileprivate func response(
        _ head: ResponseHead, _ exchange: Exchange, to plan: RequestPlan = .whole
    ) -> ResponsePlan {
        let names = [path.string, urlRequest.url?.namedFile].compactMap(\.self)
        return ResponsePlan(
            head, isSecure: exchange.isSecure, to: plan, in: BodyContext(names: names), expecting: expected)
    }
}

extension BundlePlan.File {
    /// Whether a response with the file may be of the version that the server had announced.
    fileprivate func isSameVersion(_ head: ResponseHead) -> Bool {
        let now = Validator(head)
        let (known, current) =
            validator.entityTag == nil
            ? (validator.lastModified, now.lastModified) : (validator.entityTag, now.entityTag)
        return known == nil || current == nil || known == current
    }
}

internal import Crypto
internal import Foundation
internal import PrefetchCaching
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The files of a bundle, as their servers have them now.
struct BundlePlan: Sendable {
    struct File: Sendable {
        let path: FolderPath
        let urlRequest: URLRequest
        let length: Int64
        let expected: Expectations
        /// The version that the server had; empty if it was not asked.
        let validator: Validator
        /// Whether equal validators mean equal bytes.
        let isStrong: Bool

        /// SHA-256, if one is expected.
        var digest: [UInt8]? { expected.digest }
    }

    let files: [File]

    /// Bytes of all files, which have been validated.
    var length: Int64 { files.reduce(0) { $0 + $1.length } }

    var parts: [BundlePart] { files.map { BundlePart($0.path, contentBytes: $0.length) } }

    /// A strong validator of them all, so that what is kept of one version is not continued with another; empty if the
    /// version of one of them cannot be told.
    var validator: Validator {
        guard files.allSatisfy({ $0.digest != nil || $0.isStrong }) else { return Validator() }
        var digest = SHA256()
        for file in files {
            let version =
                file.digest?.hexadecimal ?? file.validator.entityTag ?? file.validator.lastModified ?? ""
            digest.update(data: Data("\(file.path)\n\(file.length)\n\(version)\n".utf8))
        }
        return Validator(entityTag: "\"bundle-\(Array(digest.finalize()).hexadecimal)\"")
    }
}

/// The content of a bundle, requested file by file, from an offset on.
///
/// Used by one task.
final class BundleTransfer {
    private let files: [BundlePlan.File]
    private let digests: PartDigests
    /// Requests a file from an offset on.
    private let request: (BundlePlan.File, Int64) async throws -> (ResponseHead, Exchange)
    private var index = 0
    private var position: Int64
    private var exchange: Exchange?
    /// Bytes to pass over: the server has sent the whole file.
    private var excess: Int64 = 0

    /// - Parameters:
    ///   - offset: In the content of the bundle.
    ///   - digests: Have received the content up to there.
    init(
        _ plan: BundlePlan, from offset: Int64, _ digests: PartDigests,
        _ request: @escaping (BundlePlan.File, Int64) async throws -> (ResponseHead, Exchange)
    ) {
        files = plan.files
        position = offset
        self.digests = digests
        self.request = request
        while index < files.count, position >= files[index].length {
            position -= files[index].length
            index += 1
        }
    }

    /// The next piece; `nil` after the last one.
    ///
    /// - Throws: ``DownloadError/Reason``.
    func next() async throws -> Data? {
        try digests.check()
        while index < files.count {
            let file = files[index]
            guard position < file.length else {
                await exchange?.drain()
                exchange = nil
                (index, position) = (index + 1, 0)
                continue
            }
            let exchange = try await open(file)
            guard let piece = try await exchange.next() else {
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
            rest.withUnsafeBytes { digests.update($0) }
            try digests.check()
            return rest
        }
        return nil
    }

    private func open(_ file: BundlePlan.File) async throws -> Exchange {
        if let exchange { return exchange }
        let (head, exchange) = try await request(file, position)
        self.exchange = exchange
        excess = try file.excess(head, after: position)
        return exchange
    }

    func cancel() { exchange?.cancel() }
}

extension ResponseHead {
    /// Checks that the body is a file of a bundle as it is sent: the length of what would have to be decoded is not known.
    func requireAsSent(_ path: FolderPath, _ request: URLRequest) throws(DownloadError.Reason) {
        let names = [path.string, request.url?.namedFile].compactMap(\.self)
        if try codingToUndo(BodyContext(names: names)) != nil { throw .encoded(encoding ?? "") }
    }
}

extension BundlePlan.File {
    /// Checks a response, 200 or 206, to a request for the bytes from an offset on.
    ///
    /// - Returns: How many bytes of the body are to be passed over.
    fileprivate func excess(_ head: ResponseHead, after offset: Int64) throws(DownloadError.Reason) -> Int64 {
        try head.requireAsSent(path, urlRequest)
        if let type = expected.unwelcomeType(of: head) { throw .wrongMediaType(type) }
        let now = Validator(head)
        if let known = validator.entityTag, let tag = now.entityTag, tag != known {
            throw .changed(path.string)
        }
        if validator.entityTag == nil, let known = validator.lastModified, let date = now.lastModified,
            date != known
        {
            throw .changed(path.string)
        }
        if head.hasMalformedLength { throw .connection(.malformed) }
        guard head.status == 206 else {
            if let announced = head.contentLength, announced != length { throw .changed(path.string) }
            return offset
        }
        guard let range = head.contentRange, range.total == length, range.bytes == offset..<length else {
            throw .wrongRange(head["content-range"] ?? "none")
        }
        return 0
    }
}

/// Compares the digests of the files of a bundle, whose content arrives in order.
final class PartDigests: Sendable {
    private struct State {
        var index = 0
        var position: Int64 = 0
        var digest: SHA256?
        var failure: DownloadError.Reason?
    }

    private let files: [BundlePlan.File]
    private let state = Mutex(State())

    init(_ plan: BundlePlan) {
        files = plan.files
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            var rest = bytes[...]
            while state.index < files.count, !rest.isEmpty {
                let file = files[state.index]
                let count = Int(min(Int64(rest.count), file.length - state.position))
                if file.digest != nil {
                    if state.digest == nil { state.digest = SHA256() }
                    state.digest?.update(bufferPointer: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
                }
                rest = rest.dropFirst(count)
                state.position += Int64(count)
                guard state.position == file.length else { return }
                if let expected = file.digest {
                    // Also of an empty file.
                    let actual = Array((state.digest ?? SHA256()).finalize())
                    if actual != expected, state.failure == nil {
                        state.failure = .wrongDigest(expected: expected, actual: actual)
                    }
                }
                (state.index, state.position, state.digest) = (state.index + 1, 0, nil)
            }
        }
    }

    /// - Throws: ``DownloadError/Reason/wrongDigest(expected:actual:)`` once a file has another digest than expected.
    func check() throws(DownloadError.Reason) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}

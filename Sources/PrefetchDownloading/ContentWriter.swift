internal import Foundation
internal import PrefetchCaching
internal import Synchronization

/// Writes content piece by piece, and completes the item if the content is as expected.
struct ContentWriter: Sendable {
    let writer: CacheWriter
    /// Whether the writer resumes an earlier store.
    let isResumed: Bool
    /// Already includes the content of the earlier store.
    let digest: ContentDigest
    let expected: Expectations

    init(_ writer: CacheWriter, _ digest: ContentDigest, _ expected: Expectations) {
        self.writer = writer
        isResumed = writer.contentBytes > 0
        self.digest = digest
        self.expected = expected
    }

    /// - Parameters:
    ///   - announced: The announced length of the whole content in bytes; `nil` if unknown.
    ///   - next: Returns the next piece, or `nil` after the last one.
    /// - Throws: What `next` throws, a ``DownloadError/Reason`` for other content than announced or expected, and
    ///   `CacheError`, after which the writer has ended.
    func writeAll(
        announced: Int64?, progress: (DownloadProgress) -> Void, from next: () async throws -> Data?
    ) async throws -> StoreOutcome {
        let total = announced ?? expected.length
        // Stored with the commit, in one call.
        var last = Data()
        while let piece = try await next() {
            // One at the end must not take the place of the last bytes.
            if piece.isEmpty { continue }
            let length = writer.contentBytes + Int64(last.count + piece.count)
            if let total, length > total {
                throw DownloadError.Reason.tooLong(received: length, announced: total)
            }
            try digest.add(piece)
            if length == announced {
                last = piece
                continue
            }
            if let refusal = try await writer.write(piece) { return .refused(refusal) }
            progress(DownloadProgress(completedBytes: length, totalBytes: total))
        }
        let length = writer.contentBytes + Int64(last.count)
        if let problem = expected.problem(of: length, announced: announced) { throw problem }
        if let problem = digest.finish() { throw problem }
        let outcome = try await writer.commit(appending: last)
        if case .refused = outcome { return outcome }
        if !last.isEmpty { progress(DownloadProgress(completedBytes: length, totalBytes: total)) }
        return outcome
    }

    /// Ends the writer after a failure, keeping the partial if it may be part of the content.
    ///
    /// - Returns: Bytes of content that are kept.
    func end(after reason: DownloadError.Reason?) async throws(CacheError) -> Int64 {
        // The writer has already discarded the item.
        if case .cache? = reason { return 0 }
        guard reason?.keepsPartial ?? true else {
            try await writer.cancel()
            return 0
        }
        return try await writer.keep()
    }
}

extension Expectations {
    /// What is wrong with the length of whole content.
    func problem(of length: Int64, announced: Int64?) -> DownloadError.Reason? {
        if let announced, length != announced {
            return length < announced
                ? .truncated(received: length, announced: announced)
                : .tooLong(received: length, announced: announced)
        }
        return self.length.flatMap { $0 == length ? nil : .wrongLength(expected: $0, actual: length) }
    }
}

/// An incremental digest of content, compared with the expected one; a no-op if none is.
final class ContentDigest: Sendable {
    fileprivate struct State {
        var sha256: SHA256?
        var checksum: ContentChecksum?
        /// The files of a bundle whose content is still to come, and the digest of the first one up to a position.
        var files: ArraySlice<BundlePlan.File>
        var file: SHA256?
        var position: Int64 = 0
        var failure: DownloadError.Reason?
    }

    private let expected: [UInt8]?
    private let state: Mutex<State>

    /// - Parameter files: Of a bundle, whose digests are compared as soon as their content is complete.
    init(for expected: Expectations, _ files: [BundlePlan.File] = []) {
        self.expected = expected.digest
        let isWanted = expected.digest != nil
        state = Mutex(
            State(
                sha256: isWanted && !expected.isChecksum ? SHA256() : nil,
                checksum: isWanted && expected.isChecksum ? ContentChecksum() : nil, files: files[...]))
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            state.sha256?.update(bytes)
            state.checksum?.update(bytes)
            state.updateFiles(bytes)
        }
    }

    /// - Throws: ``DownloadError/Reason/wrongDigest(expected:actual:)`` once a file of a bundle has another digest.
    func add(_ piece: Data) throws(DownloadError.Reason) {
        piece.withUnsafeBytes { update($0) }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Returns what is wrong with the whole content, if anything is.
    func finish() -> DownloadError.Reason? {
        state.withLock { state in
            // Empty files at the end.
            state.updateFiles(UnsafeRawBufferPointer(start: nil, count: 0))
            if let failure = state.failure { return failure }
            let digest =
                state.sha256?.finish() ?? state.checksum?.finalize().bigEndianBytes
            return digest.flatMap { .init(of: $0, expecting: expected) }
        }
    }
}

extension ContentDigest.State {
    fileprivate mutating func updateFiles(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while let next = files.first {
            let count = Int(min(Int64(rest.count), next.length - position))
            if next.expected.digest != nil {
                file = file ?? SHA256()
                file?.update(UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            }
            rest = rest.dropFirst(count)
            position += Int64(count)
            guard position == next.length else { return }
            if failure == nil, let file {
                failure = .init(of: file.finish(), expecting: next.expected.digest)
            }
            (file, position) = (nil, 0)
            files.removeFirst()
        }
    }
}

extension DownloadError.Reason {
    /// `nil` if the digest is the expected one, or none is.
    fileprivate init?(of digest: [UInt8], expecting expected: [UInt8]?) {
        guard let expected, digest != expected else { return nil }
        self = .wrongDigest(expected: expected, actual: digest)
    }
}

extension UInt64 {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}

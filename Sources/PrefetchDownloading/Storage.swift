internal import Crypto
internal import Foundation
internal import PrefetchCaching
internal import Synchronization

/// Stores a body piece by piece, and completes the item if the content is as expected.
struct Storage: Sendable {
    let writer: CacheWriter
    let digest: ContentDigest
    let expected: Expectations
    /// Bytes from an earlier download that the writer resumes.
    let start: Int64
    let emit: @Sendable (DownloadEvent) -> Void

    /// - Parameter announced: The announced length of the whole content in bytes; `nil` if unknown.
    func receive(_ reception: Reception, announced: Int64?) async throws -> DownloadOutcome {
        var length = start
        do {
            while let piece = try await next(reception, length, announced) {
                length += Int64(piece.count)
                digest.update(piece)
                if let refusal = try await writer.write(piece) { return .refused(refusal, keptBytes: 0) }
                emit(.progress(DownloadProgress(completedBytes: length, totalBytes: announced)))
            }
        } catch {
            throw try await end(after: Interruption(causedBy: error))
        }
        return try await finish(length: length)
    }

    private func next(
        _ reception: Reception, _ length: Int64, _ announced: Int64?
    ) async throws(Interruption) -> Data? {
        let piece: Data?
        do {
            piece = try await reception.next()
        } catch {
            guard case .connection(let failure)? = error.reason else { throw error }
            guard let announced else {
                throw Interruption(.connection(failure == .other ? .connectionLost : failure))
            }
            throw Interruption(.truncated(received: length, announced: announced))
        }
        let end = length + Int64(piece?.count ?? 0)
        if let announced {
            if end > announced { throw Interruption(.tooLong(received: end, announced: announced)) }
            if piece == nil, end < announced {
                throw Interruption(.truncated(received: end, announced: announced))
            }
        }
        return piece
    }

    /// Completes the item if the content is as expected.
    func finish(length: Int64) async throws -> DownloadOutcome {
        if let expected = expected.length, expected != length {
            throw try await end(after: Interruption(.wrongLength(expected: expected, actual: length)))
        }
        if let expected = expected.digest, let actual = digest.finalize(), expected != actual {
            throw try await end(after: Interruption(.wrongDigest(expected: expected, actual: actual)))
        }
        return switch try await writer.commit() {
        case .stored(let summary): .stored(summary)
        case .delivered(let item): .delivered(item)
        case .refused(let refusal): .refused(refusal, keptBytes: 0)
        }
    }

    /// Ends the writer, keeping the partial if it may be part of the content.
    ///
    /// - Returns: The interruption, with the number of bytes kept.
    func end(after interruption: Interruption) async throws -> Interruption {
        var interruption = interruption
        interruption.wasResumed = start > 0
        switch interruption.reason {
        case .cache?:
            // The writer has already discarded the item.
            break
        case let reason? where !reason.keepsPartial:
            try await writer.cancel()
        case _?:
            interruption.keptBytes = try await writer.keep()
        case nil:
            do throws(CacheError) {
                interruption.keptBytes = try await writer.keep()
            } catch .closed, .writerIsFinished {
                // The partial was kept when the cache was closed.
            } catch {
                throw Interruption(.cache(error))
            }
        }
        return interruption
    }
}

/// An incremental SHA-256 digest of content being stored; a no-op if the digest is not needed.
///
/// Uses swift-crypto, which is CryptoKit on Apple platforms and BoringSSL elsewhere: with the processor's SHA
/// instructions it keeps up with any disk, which plain Swift does not.
final class ContentDigest: Sendable {
    private let state: Mutex<SHA256?>

    init(isWanted: Bool) {
        state = Mutex(isWanted ? SHA256() : nil)
    }

    /// Takes the content stored by an earlier download; `nil` if the digest is not needed.
    var replay: (@Sendable (UnsafeRawBufferPointer) -> Void)? {
        guard state.withLock({ $0 != nil }) else { return nil }
        return { self.update($0) }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { $0?.update(bufferPointer: bytes) }
    }

    func update(_ bytes: Data) {
        state.withLock { $0?.update(data: bytes) }
    }

    /// Returns the digest; `nil` if it is not needed.
    func finalize() -> [UInt8]? {
        state.withLock { $0?.finalize() }.map(Array.init)
    }
}

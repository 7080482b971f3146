internal import Foundation
internal import PrefetchCache

/// Stores a body, piece by piece, and completes the item if it is the expected content.
struct Storage: Sendable {
    let writer: any ContentWriting
    let digest: ContentDigest
    let expected: Expectations
    /// Bytes of an earlier download, which the writer has.
    let start: Int64
    let emit: @Sendable (DownloadEvent) -> Void

    /// - Parameter announced: Bytes of the whole content; `nil` if unknown.
    func receive(_ reception: Reception, announced: Int64?) async throws(Interruption) -> DownloadOutcome {
        var length = start
        do throws(Interruption) {
            while let piece = try await next(reception, length, announced) {
                length += Int64(piece.count)
                digest.update(piece)
                let refusal = try await onCache { () async throws(CacheError) in try await writer.write(piece)
                }
                if let refusal { return .refused(refusal, keptLength: 0) }
                emit(.progress(DownloadProgress(completedBytes: length, totalBytes: announced)))
            }
        } catch {
            throw try await giveUp(error)
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
            guard case .failed(.connection(let failure)) = error.cause else { throw error }
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

    /// Completes the item, if it is the expected one.
    func finish(length: Int64) async throws(Interruption) -> DownloadOutcome {
        if let expected = expected.length, expected != length {
            throw try await giveUp(Interruption(.wrongLength(expected: expected, actual: length)))
        }
        if let expected = expected.digest, let actual = digest.finalize(), expected != actual {
            throw try await giveUp(Interruption(.wrongDigest(expected: expected, actual: actual)))
        }
        let outcome = try await onCache { () async throws(CacheError) in try await writer.commit() }
        return switch outcome {
        case .stored(let summary): .stored(summary)
        case .delivered(let item): .delivered(item)
        case .refused(let refusal): .refused(refusal, keptLength: 0)
        }
    }

    /// Keeps what was stored, if it may be part of the content.
    func giveUp(_ interruption: Interruption) async throws(Interruption) -> Interruption {
        var interruption = interruption
        interruption.wasResumed = start > 0
        switch interruption.cause {
        case .failed(.cache):
            // The writer has discarded the item.
            return interruption
        case .failed(let reason) where !reason.keepsPartial:
            try await onCache { () async throws(CacheError) in try await writer.cancel() }
        case .failed:
            interruption.keptLength = try await onCache { () async throws(CacheError) in
                try await writer.keep()
            }
        case .cancelled:
            do {
                interruption.keptLength = try await writer.keep()
            } catch .closed, .writerIsFinished {
                // The cache has kept it while it was closed.
            } catch {
                throw Interruption(.failed(.cache(error)))
            }
        }
        return interruption
    }
}

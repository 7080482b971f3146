public import Foundation
public import PrefetchCaching

extension PrefetchCache {
    /// Stores an item whose content comes piece by piece, over a transport of your own.
    ///
    /// ```swift
    /// try await cache.store(as: episode, sha256: digest, keepingPartial: true) { offset in
    ///     try await connection.pieces(of: episode.key, from: offset)
    /// }
    /// ```
    ///
    /// With `keepingPartial`, an interrupted store keeps its complete chunks of 1 MiB of content each, and the next
    /// store with the same metadata resumes after them. It resumes only the same version of the content: the metadata
    /// must have the same validator, or a digest must be given, which is verified at the end. Otherwise it starts over.
    ///
    /// - Parameters:
    ///   - expectedLength: The length of the whole content in bytes, if known. Space is then reserved up front, and
    ///     content of a different length is not stored.
    ///   - sha256: The SHA-256 digest of the whole content, 32 bytes. Other content is not stored.
    ///   - encoding: How the content is encoded, unless the store resumes an earlier one.
    ///   - keepingPartial: Whether the partial is kept if the store is interrupted: if `pieces` throws, the task is
    ///     cancelled, or the process dies. Partials of user-requested items are never kept.
    ///   - forgettingPromotion: As for
    ///     ``PrefetchCache/beginStoring(_:expectedLength:encoding:keepingPartial:forgettingPromotion:)``.
    ///   - progress: Called after every piece.
    ///   - pieces: Returns the content from a byte offset: 0, or the length of the partial. Called at most once.
    /// - Returns: As ``PrefetchCache/store(_:as:encoding:)-(Data,_,_)``. If refused, `pieces` was not called, or its
    ///   sequence was not read to the end.
    /// - Throws: What `pieces` and its sequence throw, and ``DownloadError/Reason/truncated(received:announced:)`` when
    ///   the sequence ends early: what there is is kept then. After ``DownloadError/Reason/tooLong(received:announced:)``
    ///   and ``DownloadError/Reason/wrongDigest(expected:actual:)`` nothing is kept. Also `CacheError`.
    @discardableResult
    public func store<Pieces: AsyncSequence>(
        as metadata: ItemMetadata, expectedLength: Int64? = nil, sha256: [UInt8]? = nil,
        encoding: EncodingChoice = .automatic, keepingPartial: Bool = false,
        forgettingPromotion: Bool = false, isolation: isolated (any Actor)? = #isolation,
        progress: (DownloadProgress) -> Void = { _ in }, from pieces: (Int64) async throws -> Pieces
    ) async throws -> StoreOutcome where Pieces.Element == Data {
        let (writer, digest): (CacheWriter, ContentDigest)
        switch try await beginOrResume(
            metadata, expectedLength: expectedLength, sha256: sha256, encoding: encoding,
            keepingPartial: keepingPartial, forgettingPromotion: forgettingPromotion)
        {
        case .begun(let begun, let digestSoFar): (writer, digest) = (begun, digestSoFar)
        case .refused(let refusal): return .refused(refusal)
        }
        var length = writer.contentBytes
        do {
            for try await piece in try await pieces(length) {
                length += Int64(piece.count)
                if let expectedLength, length > expectedLength {
                    throw DownloadError.Reason.tooLong(received: length, announced: expectedLength)
                }
                digest.update(piece)
                if let refusal = try await writer.write(piece) { return .refused(refusal) }
                progress(DownloadProgress(completedBytes: length, totalBytes: expectedLength))
            }
            // The sequence may have ended early because the task was cancelled.
            try Task.checkCancellation()
            if let expectedLength, length < expectedLength {
                throw DownloadError.Reason.truncated(received: length, announced: expectedLength)
            }
            if let sha256, let actual = digest.finalize(), actual != sha256 {
                throw DownloadError.Reason.wrongDigest(expected: sha256, actual: actual)
            }
        } catch let error as CacheError {
            // The writer has ended, or ends when it is released.
            throw error
        } catch let reason as DownloadError.Reason where !reason.keepsPartial {
            try await writer.cancel()
            throw reason
        } catch {
            try await writer.keep()
            throw error
        }
        return try await writer.commit()
    }

    private enum Beginning {
        case begun(CacheWriter, ContentDigest)
        case refused(Refusal)
    }

    private func beginOrResume(
        _ metadata: ItemMetadata, expectedLength: Int64?, sha256: [UInt8]?, encoding: EncodingChoice,
        keepingPartial: Bool, forgettingPromotion: Bool
    ) async throws(CacheError) -> Beginning {
        let digest = ContentDigest(isWanted: sha256 != nil)
        if keepingPartial, let partial = try await partial(of: metadata.key),
            partial.continues(metadata, expectedLength: expectedLength, isVerified: sha256 != nil)
        {
            switch try await resumeStoring(
                partial, forgettingPromotion: forgettingPromotion, replay: digest.replay)
            {
            case .writer(let writer): return .begun(writer, digest)
            case .refused(let refusal): return .refused(refusal)
            case .gone: break
            }
        }
        switch try await beginStoring(
            metadata, expectedLength: expectedLength, encoding: encoding, keepingPartial: keepingPartial,
            forgettingPromotion: forgettingPromotion)
        {
        case .writer(let writer): return .begun(writer, ContentDigest(isWanted: sha256 != nil))
        case .refused(let refusal): return .refused(refusal)
        }
    }
}

extension ResumablePartial {
    /// Whether storing an item may resume this partial.
    ///
    /// - Parameter isVerified: Whether the digest of the whole content is verified at the end.
    fileprivate func continues(
        _ item: ItemMetadata, expectedLength length: Int64?, isVerified: Bool
    ) -> Bool {
        let isSameVersion = !item.validator.isEmpty && item.validator == metadata.validator
        return (isVerified || isSameVersion) && item.intent == metadata.intent
            && item.source.utf8.elementsEqual(metadata.source.utf8)
            && item.destination == metadata.destination && item.attributes == metadata.attributes
            && contentBytes <= length ?? .max
            && (expectedLength == nil || length == nil || expectedLength == length)
    }
}

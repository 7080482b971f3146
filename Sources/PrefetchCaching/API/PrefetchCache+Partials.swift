public import PrefetchItemFormat

/// Resuming items whose storing was interrupted.
extension PrefetchCache {
    /// Returns the partial of an item that was begun with `keepingPartial` and interrupted, by this process
    /// or by one that has died.
    ///
    /// - Parameter intent: With ``Intent/userRequested``, also what is kept at the destination; the longer of the two.
    /// - Returns: `nil` when nothing is kept, or when a writer of any living process is using it.
    /// - Throws: ``CacheError/fileSystem(_:)``. A partial that the system has purged is not an error.
    /// - Complexity: O(n) in the chunks. Only the journal is read.
    package func partial(of key: ItemKey, for intent: Intent = .opportunistic) async throws(CacheError)
        -> ResumablePartial?
    {
        try await run { engine throws(CacheError) in try engine.partial(of: key, for: intent) }
    }

    /// Resumes storing an item after its last whole chunk.
    ///
    /// Every kept chunk is read and verified first. From the first damaged one on, all chunks are discarded:
    /// request the rest from ``CacheWriter/contentBytes``, not from ``ResumablePartial/contentBytes``.
    ///
    /// ```swift
    /// guard let partial = try await cache.partial(of: key),
    ///     let tag = partial.metadata.validator.entityTag, !tag.hasPrefix("W/"),
    ///     case .writer(let writer) = try await cache.resumeStoring(partial)
    /// else { return try await downloadFromTheBeginning(key) }
    /// request.setValue("bytes=\(writer.contentBytes)-", forHTTPHeaderField: "Range")
    /// request.setValue(tag, forHTTPHeaderField: "If-Range")
    /// ```
    ///
    /// Append only a 206 whose `Content-Range` begins at `writer.contentBytes`; on a 200, cancel this writer
    /// and begin again. The resumed writer keeps its own whole chunks as well. Cancelling the task has no
    /// effect.
    ///
    /// - Parameters:
    ///   - whenPromoted: As in
    ///     ``beginStoring(_:expectedLength:encoding:keepingPartial:whenPromoted:admission:)``.
    ///   - replay: Receives the kept content, in order and in chunks of 1 MiB, for a digest of the whole.
    ///     Each buffer is valid only during the call. Together they are exactly the content that the writer
    ///     holds.
    /// - Returns: ``ResumedStoring/refused(_:)`` when there is no room for the rest; the partial stays.
    /// - Throws: ``CacheError/fileSystem(_:)``, and for what the user asked for also
    ///   ``CacheError/insufficientSpace(needed:available:)``, which leaves the partial. The partial is then discarded, unless the error occurred
    ///   before it was touched.
    /// - Complexity: O(n) in the kept bytes, and one transaction of the catalog.
    package func resumeStoring(
        _ partial: ResumablePartial, whenPromoted: WhenPromoted = .leave,
        on terms: AdmissionTerms = AdmissionTerms(),
        replay: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil
    ) async throws(CacheError) -> ResumedStoring {
        let cache = self
        return try await run { engine throws(CacheError) in
            switch try engine.resume(
                partial, whenPromoted: whenPromoted, on: terms, replay: { replay?($0) })
            {
            case .begun(let store): .writer(CacheWriter(store, of: cache))
            case .refused(let refusal): .refused(refusal)
            case nil: .gone
            }
        }
    }

    /// Removes what is kept of an item whose storing was interrupted, unless a living writer is using it.
    ///
    /// - Throws: ``CacheError/fileSystem(_:)``.
    public func discardPartial(of key: ItemKey) async throws(CacheError) {
        try await run { engine throws(CacheError) in try engine.discardPartials(key) }
    }
}

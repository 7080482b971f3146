public import ItemFormat

/// Items whose storing was broken off.
extension PrefetchCache {
    /// What is kept of an item that was begun with `keepingPartial` and broken off, by this process or by one
    /// that is no more.
    ///
    /// - Returns: `nil` when nothing is kept, or when a living writer, of whatever process, is at it.
    /// - Throws: ``CacheError/fileSystem(_:)``. What the system has purged is no error.
    /// - Complexity: O(n) in the chunks, of which only the journal is read.
    public func partial(of key: ItemKey) async throws(CacheError) -> PartialItem? {
        try await run { engine throws(CacheError) in try engine.partial(of: key) }
    }

    /// Goes on storing an item after its last whole chunk.
    ///
    /// Every chunk that is kept is read and verified first. What is damaged, and all that is behind it, is cut
    /// off: ask for the rest from ``CacheWriter/contentLength`` on, and not from
    /// ``PartialItem/contentLength``.
    ///
    /// ```swift
    /// guard let partial = try await cache.partial(of: key),
    ///     case .writer(let writer) = try await cache.resumeStoring(partial)
    /// else { return try await downloadFromTheBeginning(key) }
    /// request.setValue("bytes=\(writer.contentLength)-", forHTTPHeaderField: "Range")
    /// request.setValue(partial.metadata.validator.entityTag, forHTTPHeaderField: "If-Range")
    /// ```
    ///
    /// The writer keeps its whole chunks in turn. When the server has another version by now, cancel it and
    /// begin anew.
    ///
    /// - Parameters:
    ///   - forgettingPromotion: As in ``beginStoring(_:expectedLength:encoding:keepingPartial:forgettingPromotion:)``.
    ///   - replay: Is handed the content that is kept, in order and in chunks of 1 MiB, each of which is valid only
    ///     during the call: for a digest of the whole. What it was handed is what the writer has.
    /// - Returns: ``ResumedStoring/refused(_:)`` when there is no room for the rest; the partial stays.
    /// - Throws: ``CacheError/fileSystem(_:)``: the partial is gone, unless it was not touched yet.
    /// - Complexity: O(n) in the bytes that are kept, and one transaction of the catalog.
    public func resumeStoring(
        _ partial: PartialItem, forgettingPromotion: Bool = false,
        replay: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil
    ) async throws(CacheError) -> ResumedStoring {
        let cache = self
        return try await run { engine throws(CacheError) in
            switch try engine.resume(
                partial, forgettingPromotion: forgettingPromotion, replay: { replay?($0) })
            {
            case .begun(let store): .writer(CacheWriter(store, of: cache))
            case .refused(let refusal): .refused(refusal)
            case .gone: .gone
            }
        }
    }

    /// Removes what is kept of an item that was broken off, if anything is and no living writer is at it.
    ///
    /// - Throws: ``CacheError/fileSystem(_:)``.
    public func discardPartial(of key: ItemKey) async throws(CacheError) {
        try await run { engine throws(CacheError) in try engine.discardPartial(key) }
    }
}

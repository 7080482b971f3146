public import Foundation

/// Stores one item whose content arrives in pieces.
///
/// ```swift
/// for try await piece in download {
///     if let refusal = try await writer.write(piece) { return refusal }
/// }
/// let outcome = try await writer.commit()
/// ```
///
/// Each call returns once its bytes have been handed to the operating system, except for less than one chunk
/// of 1 MiB, so a caller that awaits it cannot outrun the disk. Nothing is visible before ``commit()``.
///
/// A writer that is dropped cancels itself, unless it was begun with `keepingPartial`: then its whole chunks
/// are kept, as by ``keep()``, and they also outlive a crash of its process.
///
/// Besides the errors listed at ``PrefetchCache``, every call throws ``CacheError/writerIsFinished`` after
/// the writer has ended, and ``CacheError/suspended`` after it was ended by a suspension of the cache, which keeps what
/// ``keep()`` would keep.
public final class CacheWriter: Sendable {
    private let cache: PrefetchCache
    private let store: UnfinishedStore

    init(_ store: UnfinishedStore, of cache: PrefetchCache) {
        self.cache = cache
        self.store = store
    }

    deinit {
        // Cancelling touches files, which must not happen on the thread that drops the last reference.
        guard store.end == nil else { return }
        cache.lanes.run { [store] in store.suspendOrCancel() }
    }

    /// Appends content.
    ///
    /// - Returns: `nil`, or why there is no more room for the item. The writer has then ended and kept what
    ///   ``keep()`` would keep, unless the item exceeds the largest size allowed or the volume is full.
    /// - Throws: ``CacheError/item(_:)`` when the content exceeds the limit of the format. For an item with
    ///   the intent ``Intent/userRequested`` also ``CacheError/insufficientSpace(needed:available:)`` and
    ///   ``CacheError/destination(_:_:)``. After an error the writer has ended, and nothing is kept.
    public func write(_ bytes: Data) async throws(CacheError) -> Refusal? {
        try await run { store throws(CacheError) in
            try bytes.withBytes { bytes throws(CacheError) in try store.append(bytes) }
        }
    }

    /// Completes the item and publishes it under its key, replacing an older one. An item with the intent
    /// ``Intent/userRequested`` is moved to its destination instead, durably.
    ///
    /// - Returns: ``StoreOutcome/refused(_:)`` when space ran out at the end.
    /// - Throws: For an item with the intent ``Intent/userRequested``:
    ///   ``CacheError/insufficientSpace(needed:available:)``, ``CacheError/destination(_:_:)`` and
    ///   ``CacheError/destinationUnavailable(_:)``. When only the last step fails, its content stays staged
    ///   and the next ``PrefetchCache/open(_:progress:)-(ItemKey,_)`` completes it. With
    ///   ``WhenPromoted/storeAgain`` also what ``PrefetchCache/forget(_:)`` throws. After an error the writer has
    ///   ended.
    public func commit() async throws(CacheError) -> StoreOutcome { try await commit(appending: Data()) }

    /// Appends the last content, and completes the item: as ``write(_:)`` and ``commit()`` in one call.
    package func commit(appending bytes: Data) async throws(CacheError) -> StoreOutcome {
        try await run { store throws(CacheError) in
            try bytes.withBytes { bytes throws(CacheError) in try store.commit(appending: bytes) }
        }
    }

    /// Bytes of content written so far, as of the last call that returned. Includes the content of a resumed
    /// partial.
    public var contentBytes: Int64 { store.contentBytes }

    /// Ends the writer and keeps the whole chunks, of 1 MiB of content each, to be resumed.
    ///
    /// - Returns: The bytes of content that are kept. 0 when nothing can be kept: there is no whole chunk yet, another
    ///   writer keeps the partial of this key, the file system has no locks, or it was begun without `keepingPartial`. The item is cancelled then.
    /// - Throws: ``CacheError/fileSystem(_:)`` when the partial could not be kept.
    @discardableResult
    public func keep() async throws(CacheError) -> Int64 {
        try await suspend()?.contentBytes ?? 0
    }

    /// As ``keep()``.
    ///
    /// - Returns: The partial, for ``PrefetchCache/resumeStoring(_:whenPromoted:replay:)``.
    package func suspend() async throws(CacheError) -> ResumablePartial? {
        try await run { store throws(CacheError) in try store.suspend() }
    }

    /// Ends the writer and discards everything it has written. Does nothing if the writer has ended.
    public func cancel() async throws(CacheError) {
        do throws(CacheError) {
            try await run { store throws(CacheError) in try store.cancel() }
        } catch {
            if error == .writerIsFinished || error == .suspended { return }
            throw error
        }
    }

    private func run<Result: Sendable>(
        _ body: @Sendable (UnfinishedStore) throws(CacheError) -> Result
    ) async throws(CacheError) -> Result {
        // A call whose outcome is known does not wait until the cache is resumed.
        if let end = store.end { throw end }
        return try await cache.run { [store] _ throws(CacheError) in try body(store) }
    }
}

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Stores one item whose content arrives in pieces.
///
/// ```swift
/// for try await piece in download {
///     if let refusal = try await writer.write(piece) { return refusal }
/// }
/// let outcome = try await writer.commit()
/// ```
///
/// Every call returns when its bytes are with the operating system: whoever waits for it cannot run
/// ahead of the disk. Nothing is visible before ``commit()``.
///
/// A writer that is dropped cancels itself, unless it was begun with `keepingPartial`: then its whole
/// chunks are kept as by ``suspend()``, and also when its process dies.
public final class CacheWriter: Sendable {
    private let cache: PrefetchCache
    private let store: OpenStore

    init(_ store: OpenStore, of cache: PrefetchCache) {
        self.cache = cache
        self.store = store
    }

    deinit {
        // Letting go touches files, which must not happen wherever the last reference is dropped.
        guard store.isUnderWay else { return }
        cache.blocking.run(after: .zero) { [store] in store.letGo() }
    }

    /// Appends content.
    ///
    /// - Returns: `nil`, or why there is no more room for the item. The writer has ended then, and kept what it would by
    ///   ``suspend()``, unless the item is larger than any may be or the volume is full.
    /// - Throws: ``CacheError/fileSystem(_:)``, ``CacheError/writerIsFinished``, and
    ///   ``CacheError/closed`` when the cache was closed. After an error the item is gone.
    @discardableResult
    public func write(_ bytes: Data) async throws(CacheError) -> Refusal? {
        try await cache.run { [store] _ throws(CacheError) in
            try bytes.withBytes { bytes throws(CacheError) in try store.append(bytes) }
        }
    }

    /// Completes the item and puts it in its place, where it replaces an older one of its key.
    public func commit() async throws(CacheError) -> StoreOutcome {
        try await cache.run { [store] _ throws(CacheError) in
            try store.commit(appending: UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    /// Bytes of content so far, as of the last call that has returned, including those of a partial that was
    /// resumed.
    public var contentLength: Int64 { store.contentLength }

    /// Breaks off: keeps the content's whole chunks of 1 MiB, and ends the writer.
    ///
    /// - Returns: What is kept, for ``PrefetchCache/resumeStoring(_:replay:)``. `nil` when there is nothing
    ///   to keep: not a whole chunk, another writer keeps the partial of this key, the item goes straight to
    ///   its destination, or it was begun without `keepingPartial`. The writer is cancelled then.
    /// - Throws: ``CacheError/writerIsFinished``, ``CacheError/closed``, and ``CacheError/fileSystem(_:)``:
    ///   nothing is kept then.
    public func suspend() async throws(CacheError) -> PartialItem? {
        try await cache.run { [store] _ throws(CacheError) in try store.suspend() }
    }

    /// Gives the item up, and what would be kept of it.
    public func cancel() async throws(CacheError) {
        try await cache.run { [store] _ throws(CacheError) in try store.giveUp() }
    }
}

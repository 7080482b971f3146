extension PrefetchCache {
    /// The file of an item, handed over to the user at the first call; `nil` on a miss.
    ///
    /// When this returns a file, that file is complete at its destination and survives the death of
    /// the app, a crash of the system and, where the device honours flushes, a power cut. Later calls
    /// return the same file.
    ///
    /// Cancelling the task leaves the item cached, as long as its content is still being decoded, copied or
    /// verified. Afterwards the promotion is completed and its file returned.
    ///
    /// - Parameter progress: Is called after every few mebibytes of content that are decoded, copied or
    ///   verified; what then remains is a flush. Not called for an item that is handed over by its name,
    ///   whatever its size, nor for one that was opened before. Called on a thread of the cache, which waits
    ///   for it: it should return at once, and must not block on the cache.
    /// - Throws: ``CacheError/movedOrDeleted(key:_:)`` when the item was opened before and the user
    ///   has since taken the file away; ``CacheError/destination(_:_:)`` when it cannot be put in its
    ///   place, ``CacheError/insufficientSpace(needed:available:)`` when there is no room for it there, and
    ///   ``CacheError/cancelled``: then it stays cached.
    public func open(
        _ key: ItemKey, progress: (@Sendable (OpenProgress) -> Void)? = nil
    ) async throws(CacheError) -> OpenedItem? {
        try await lookUpAndOpen(key, progress: progress).value
    }

    /// As ``open(_:progress:)-(ItemKey,_)``, and says why an item is not there.
    public func lookUpAndOpen(
        _ key: ItemKey, progress: (@Sendable (OpenProgress) -> Void)? = nil
    ) async throws(CacheError) -> Lookup<OpenedItem> {
        try await run { engine throws(CacheError) in
            try engine.open(key, for: .currentTask(progress))
        }
    }

    /// Opens several items. What is promised of ``open(_:progress:)-(ItemKey,_)`` is promised of each of
    /// them, when this returns; the flushes that this takes are shared by up to 32 of them, which makes it
    /// several times as fast for small items.
    ///
    /// An item whose opening fails does not keep the others from being opened. When the task is cancelled,
    /// those whose content is not in place yet fail with ``CacheError/cancelled``; the others are handed over.
    ///
    /// - Parameters:
    ///   - keys: A key may come up more than once; all but the first are later opens.
    ///   - progress: As of ``open(_:progress:)-(ItemKey,_)``, for one item after the other.
    /// - Returns: What became of each key, in the order of `keys`: its file, why there is none, or why its
    ///   opening failed, as ``lookUpAndOpen(_:progress:)`` would have said.
    /// - Throws: ``CacheError/closed``, and nothing else.
    public func open(
        _ keys: [ItemKey], progress: (@Sendable (OpenProgress) -> Void)? = nil
    ) async throws(CacheError) -> [Result<Lookup<OpenedItem>, CacheError>] {
        try await run { engine throws(CacheError) in
            engine.open(keys, for: .currentTask(progress))
        }
    }
}

extension PrefetchCache {
    /// Returns the file of an item, promoting the item at the first call; `nil` on a miss.
    ///
    /// When this returns a file, that file is complete at its destination and survives the death of the app,
    /// a crash of the system and, where the device honours flushes, a power cut. Later calls return the same
    /// file.
    ///
    /// Cancelling the task leaves the item cached, as long as its content is still being decoded, copied or
    /// verified, or waits for iCloud Drive. After that the promotion is completed and its file returned, and so it is as soon
    /// as it is opened together with items of other tasks: opens of small items that tasks begin at the same time share
    /// their flushes, unless they report progress.
    ///
    /// `progress` is called after every few mebibytes of content that are decoded, copied or verified; only a flush remains
    /// after the last call. It is not called for an item that is promoted by a rename, whatever its size, nor for one that
    /// was opened before. A thread of the cache waits for it: it should return at once, and must not block on the cache.
    ///
    /// - Throws: ``CacheError/movedOrDeleted(key:_:)`` when the item was opened before and the user has since moved or
    ///   deleted the file. When the item cannot be promoted now and stays cached: ``CacheError/destination(_:_:)``,
    ///   ``CacheError/destinationUnavailable(_:)``, ``CacheError/insufficientSpace(needed:available:)`` when its
    ///   destination has no room for it, and ``CacheError/cancelled``.
    public func open(
        _ key: ItemKey, progress: (@Sendable (OpenProgress) -> Void)? = nil
    ) async throws(CacheError) -> PromotedFile? {
        try await lookUpAndOpen(key, progress: progress).value
    }

    /// Does what ``open(_:progress:)-(ItemKey,_)`` does, and returns the reason for a miss.
    public func lookUpAndOpen(
        _ key: ItemKey, progress: (@Sendable (OpenProgress) -> Void)? = nil
    ) async throws(CacheError) -> Lookup<PromotedFile> {
        try await Cancellation.following { () async throws(CacheError) in
            // Those who want to see the progress of theirs open it alone.
            if progress == nil, let lookup = try await openSharing(key) { return lookup }
            return try await run { engine throws(CacheError) in
                try engine.open(key, for: .currentTask(progress, engine.usage))
            }
        }
    }

    /// Opens an item together with those that other tasks open at this time.
    ///
    /// - Returns: `nil` if it has to be opened alone.
    private func openSharing(_ key: ItemKey) async throws(CacheError) -> Lookup<PromotedFile>? {
        let lookup: Lookup<PromotedFile>? = try await run { [self] engine throws(CacheError) in
            let watcher = OpenWatcher.currentTask(nil, engine.usage)
            // Without a cached copy it was opened before, or is absent.
            if try engine.promoter.copies.isThere(key) {
                guard opens.begin() else { return nil }
                let outcome = engine.openQuickly([key], for: watcher)[0]
                if opens.end() { openWaiting() }
                if let outcome { return try outcome.get() }
            }
            return try engine.open(key, for: watcher)
        }
        if let lookup { return lookup }
        return try await opens.join(key)?.get()
    }

    /// Opens the items of all tasks that wait for it, at the priority of none of them.
    private func openWaiting() {
        lanes.start { [self] in
            do throws(CacheError) {
                repeat {
                    try await run { [opens] engine in opens.openNext(in: engine) }
                } while opens.end()
            } catch {
                // They are told when they open alone.
                opens.giveUp()
            }
        }
    }

    /// Opens several items. When this returns, each of them has the guarantees of ``open(_:progress:)-(ItemKey,_)``. Up
    /// to 32 items share their flushes, which makes this several times as fast for small items, and none of them is
    /// evicted for another.
    ///
    /// An item that fails to open does not keep the others from being opened. When the task is cancelled, items whose
    /// content is not in place yet fail with ``CacheError/cancelled``; the others are promoted.
    ///
    /// - Parameters:
    ///   - keys: A key may occur more than once; all but the first occurrence are later opens.
    ///   - progress: As of ``open(_:progress:)-(ItemKey,_)``, for one item at a time.
    /// - Returns: The result for each key, in the order of `keys`: what ``lookUpAndOpen(_:progress:)`` would
    ///   have returned or thrown.
    /// - Throws: ``CacheError/closed``, and while the cache is suspended what ``PrefetchCache/suspend(isolation:)``
    ///   lists.
    public func open(
        _ keys: [ItemKey], progress: (@Sendable (OpenProgress) -> Void)? = nil
    ) async throws(CacheError) -> [Result<Lookup<PromotedFile>, CacheError>] {
        var results = keys.map { _ in Result<Lookup<PromotedFile>, CacheError>.failure(.suspended) }
        var left = Array(results.indices)
        repeat {
            let remaining = left.map { keys[$0] }
            let opened = try await Cancellation.following { () async throws(CacheError) in
                try await run { engine throws(CacheError) in
                    engine.open(remaining, for: .currentTask(progress, engine.usage))
                }
            }
            for (index, result) in zip(left, opened) { results[index] = result }
            // Those that a suspension has interrupted are opened afterwards.
            left.removeAll { index in
                if case .failure(.suspended) = results[index] { false } else { true }
            }
        } while !left.isEmpty
        return results
    }
}

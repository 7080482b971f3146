public import Foundation

extension PrefetchCache {
    /// Removes a cached item. A file that it was promoted to is the user's and stays.
    ///
    /// - Returns: Whether the item was cached.
    @discardableResult
    public func remove(_ key: ItemKey) async throws(CacheError) -> Bool {
        try await run { engine throws(CacheError) in try engine.remove(key) }
    }

    /// Forgets that an item was opened. Its file is the user's and stays where it is.
    ///
    /// The key can then be stored again like any other, and its next ``open(_:progress:)-(ItemKey,_)`` promotes it
    /// again, under the next free name where the old one is taken by other content. A key whose file the user has moved
    /// or deleted need not be forgotten: it can be stored again as it is.
    ///
    /// A promotion that was interrupted is completed first.
    ///
    /// - Returns: Whether there was a record of the key.
    /// - Throws: ``CacheError/destination(_:_:)`` or ``CacheError/destinationUnavailable(_:)`` when an
    ///   interrupted promotion cannot be completed; the record stays then.
    @discardableResult
    public func forget(_ key: ItemKey) async throws(CacheError) -> Bool {
        try await run { engine throws(CacheError) in try engine.forget(key) }
    }

    /// Deletes the file that an item was promoted to, because the user wants it gone, and forgets that the item was
    /// opened. Durable when it returns.
    ///
    /// The file is deleted as it is, even if the user has changed it. One that another key was promoted to as well,
    /// because both had the same name and content, stays. A crash in between leaves the record: the key then throws
    /// ``CacheError/movedOrDeleted(key:_:)`` until it is stored or forgotten.
    ///
    /// - Returns: Whether a file was deleted; `false` also for a key that was never opened.
    /// - Throws: ``CacheError/destination(_:_:)`` or ``CacheError/destinationUnavailable(_:)`` when the file cannot be
    ///   deleted; the record stays then.
    @discardableResult
    public func deletePromotedFile(_ key: ItemKey) async throws(CacheError) -> Bool {
        try await run { engine throws(CacheError) in try engine.deletePromotedFile(key) }
    }

    /// Evicts items, in the order of the policy in force, until this call has freed at least `count` charged
    /// bytes.
    ///
    /// Expired items come first. Items that are pinned or being read stay, and so do promoted files.
    ///
    /// - Returns: The charged bytes that were freed, which are fewer than `count` when no more can be
    ///   evicted.
    @discardableResult
    public func evict(_ count: ByteCount) async throws(CacheError) -> ByteCount {
        .bytes(try await run { engine throws(CacheError) in try engine.evict(count.bytes) })
    }

    /// Evicts the items that a request selects, in the order in which they would be evicted anyway. Items
    /// that are pinned or being read stay, and so do promoted files.
    ///
    /// - Returns: The evicted files; in a `dryRun`, those that would be evicted now.
    /// - Complexity: O(n) in the items. All evicted files are returned at once.
    @discardableResult
    public func evict(_ request: EvictionRequest, dryRun: Bool = false) async throws(CacheError)
        -> [EvictedFile]
    {
        try await run { engine throws(CacheError) in try engine.evict(request, isDryRun: dryRun) }
    }

    /// Evicts everything that is neither pinned nor being read. Promoted files stay.
    ///
    /// - Returns: The charged bytes that were freed.
    @discardableResult
    public func evictAll() async throws(CacheError) -> ByteCount {
        .bytes(try await run { engine throws(CacheError) in try engine.evict(.max) })
    }

    /// Returns all cached items, ordered by priority and, within one priority, by ``CachedItem/lastUse``.
    /// With the policy `lru` that is the order of eviction. Items that have expired are not among them; until maintenance
    /// removes them, they take their space.
    ///
    /// - Complexity: O(n) in the items, all of which are returned at once.
    public func items() async throws(CacheError) -> [CachedItem] {
        try await run { engine throws(CacheError) in try engine.items() }
    }

    /// Performs the maintenance that otherwise runs about once a second while the cache is in use: evicts
    /// expired items, adjusts the budget to the volume, and evicts more under pressure.
    public func trim() async throws(CacheError) {
        try await run { engine throws(CacheError) in try engine.maintain() }
    }

    /// Returns how much space the volume has, and the budget that follows from it.
    ///
    /// - Complexity: Independent of the number of items.
    public func capacity() async throws(CacheError) -> CapacityReport { try await capacity(available: nil) }

    /// As ``capacity()``, if `available` were all that may still be written to the volume.
    package func capacity(available: ByteCount?) async throws(CacheError) -> CapacityReport {
        try await run { engine throws(CacheError) in try engine.capacity(available: available?.bytes) }
    }

    /// Returns what the cache holds, and what it has counted.
    ///
    /// - Complexity: Independent of the number of items.
    public func statistics() async throws(CacheError) -> CacheStatistics {
        try await run { engine throws(CacheError) in try engine.statistics() }
    }

    /// Returns what the cache has done, with what all processes did up to about a second ago.
    ///
    /// ```swift
    /// let month = try await cache.history(since: Date(timeIntervalSinceNow: -30 * 86400))
    /// print(month.total.usedRatio ?? 0)   // the share of the prefetched items that the user wanted
    /// ```
    ///
    /// - Parameter date: Whole days (UTC) are returned, from that of `date` on; `nil` for all.
    /// - Complexity: Reads a file of at most 1 MiB.
    public func history(since date: Date? = nil) async throws(CacheError) -> PrefetchHistory {
        try await run { engine throws(CacheError) in
            try PrefetchHistory(
                engine.historyRows(), since: date.map { HistoryDay.containing($0.milliseconds) })
        }
    }

    /// Returns what was learnt about the sources: the policy ``EvictionPolicyChoice/value`` and a downloader's gate use it.
    /// It is at most six hours old.
    public func outlook() async throws(CacheError) -> Outlook {
        try await run { engine throws(CacheError) in engine.outlook() }
    }

    /// Returns whether the file of an opened item is there, has just the content that was promoted, was put there by the cache,
    /// and is that of no other key.
    ///
    /// - Complexity: O(n) in the bytes.
    package func isUnmodified(_ key: ItemKey) async throws(CacheError) -> Bool {
        try await run { engine throws(CacheError) in try engine.isUnmodified(key) }
    }

    /// Returns when an item would be evicted, and why; `nil` if it is not cached. Evicts nothing.
    ///
    /// - Complexity: O(n) in the files that precede the item in the order of eviction, up to 10,000.
    public func evictionOutlook(of key: ItemKey) async throws(CacheError) -> EvictionOutlook? {
        try await run { engine throws(CacheError) in try engine.evictionOutlook(of: key) }
    }

    /// Whether an item is remembered that was stored and left unused: downloading it again is a repetition.
    package func remembersStored(_ key: ItemKey) async throws(CacheError) -> Bool {
        try await run { engine throws(CacheError) in try engine.remembersStored(key) }
    }

    /// Returns what happened to the cache in all processes, and why, as far as they have saved it: up to about a second
    /// ago.
    ///
    /// ```swift
    /// var position: JournalPosition?
    /// while !Task.isCancelled {
    ///     let news = try await cache.journal(after: position)
    ///     for entry in news.entries where entry.kind == .left { print(entry.key, entry.reason) }
    ///     position = news.end
    ///     try await Task.sleep(for: .seconds(1))
    /// }
    /// ```
    ///
    /// - Parameter position: Where an earlier part ended; `nil` for everything that is kept.
    /// - Throws: ``CacheError/fileSystem(_:)``; ``CacheError/newerLedger(version:)``.
    /// - Complexity: Reads what follows the position, of at most 1 MiB.
    public func journal(after position: JournalPosition? = nil) async throws(CacheError) -> Journal {
        try await run { engine throws(CacheError) in try engine.journal(after: position) }
    }

    /// Sets all figures to 0 and empties the journal, for all processes. The cache itself stays as it is.
    ///
    /// - Throws: ``CacheError/fileSystem(_:)``, ``CacheError/busy(_:by:)``.
    public func resetHistory() async throws(CacheError) {
        try await run { engine throws(CacheError) in
            _ = try engine.historyRows()
            try engine.history.reset()
        }
    }

    /// Returns the configuration in force.
    ///
    /// - Throws: ``CacheError/configuration(_:)`` when `configuration.json` cannot be used, and
    ///   ``CacheError/fileSystem(_:)``.
    public func configuration() async throws(CacheError) -> CacheConfiguration {
        try await run { engine throws(CacheError) in try engine.configuration.current() }
    }

    /// Replaces the configuration for all processes, durably. A smaller budget takes effect at once.
    ///
    /// - Throws: ``CacheError/configuration(_:)`` when `configuration` cannot be used, for example because
    ///   its capacity model contradicts itself. The old one stays in force then.
    public func configure(_ configuration: CacheConfiguration) async throws(CacheError) {
        try await run { engine throws(CacheError) in try engine.configure(configuration) }
    }

    /// Changes parts of the configuration for all processes, durably, and leaves the rest as it is. A smaller
    /// budget takes effect at once.
    ///
    /// ```swift
    /// try await cache.configure { $0.isStoringEnabled = false }
    /// ```
    ///
    /// - Parameter change: Changes the configuration in force. Other writers of the configuration wait
    ///   meanwhile.
    /// - Returns: The new configuration.
    /// - Throws: As ``configure(_:)``.
    @discardableResult
    public func configure(
        changing change: @Sendable (inout CacheConfiguration) -> Void
    ) async throws(CacheError) -> CacheConfiguration {
        try await run { engine throws(CacheError) in try engine.configure(changing: change) }
    }
}

/// Overviews of the cache as a whole.
extension PrefetchCache {
    /// Returns the space that the cached items of each source take, ordered by charged bytes, largest first.
    /// Promoted files are not included.
    ///
    /// - Complexity: O(n) in the items, none of which is kept in memory.
    public func sources() async throws(CacheError) -> [SourceUsage] {
        try await run { engine throws(CacheError) in try engine.sources() }
    }

    /// Returns the partials that are kept and that no writer is using: those in the cache in the order of eviction, then
    /// those of what the user asked for, the oldest first.
    ///
    /// - Complexity: O(n) in the partials, all of which are returned at once.
    public func partials() async throws(CacheError) -> [PartialItem] {
        try await run { engine throws(CacheError) in try engine.partials() }
    }

    /// Returns the files that items were promoted to, in the order of their first open, including those that
    /// the user has since moved or deleted.
    ///
    /// - Throws: ``CacheError/database(name:message:)``. A file that cannot be accessed has no
    ///   ``PromotedFile/presentBytes``.
    /// - Complexity: O(n) in the promotions, all of which are returned at once, with one `stat` each.
    public func promotedFiles() async throws(CacheError) -> [PromotedFile] {
        try await run { engine throws(CacheError) in try engine.promotedFiles() }
    }
}

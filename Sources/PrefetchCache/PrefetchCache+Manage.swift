extension PrefetchCache {
    /// Removes a cached item. A file that it became is its user's, and stays.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func remove(_ key: ItemKey) async throws(CacheError) -> Bool {
        try await run { engine throws(CacheError) in try engine.remove(key) }
    }

    /// Forgets that an item was opened. Its file is its user's, and stays where it is.
    ///
    /// The key is then like any other: it may be stored again, and its next ``open(_:progress:)-(ItemKey,_)`` hands it over
    /// anew, under the next free name where the old one is taken by something else. There is no need to
    /// forget a key whose file its user moved or deleted: that one may be stored again as it is.
    ///
    /// A promotion that was interrupted is completed first.
    ///
    /// - Returns: Whether there was a record of the key.
    /// - Throws: ``CacheError/destination(_:_:)`` when an interrupted promotion cannot be completed;
    ///   the record stays then.
    @discardableResult
    public func forget(_ key: ItemKey) async throws(CacheError) -> Bool {
        try await run { engine throws(CacheError) in try engine.forget(key) }
    }

    /// Evicts items, in the order of the policy in force, until `count` bytes of charged length are free.
    ///
    /// - Returns: The charged bytes that were freed.
    @discardableResult
    public func evict(_ count: ByteCount) async throws(CacheError) -> Int64 {
        try await run { engine throws(CacheError) in try engine.evict(count.bytes) }
    }

    /// Evicts what a request names, in the order in which it would go anyway. What is pinned, and what somebody
    /// reads, stays; so does what was promoted.
    ///
    /// - Parameter dryRun: Whether it is only told what would go now, and nothing does.
    /// - Returns: What went.
    /// - Complexity: O(n) in the items; those that go are returned at once.
    @discardableResult
    public func evict(_ request: EvictionRequest, dryRun: Bool = false) async throws(CacheError)
        -> [EvictedFile]
    {
        try await run { engine throws(CacheError) in try engine.evict(request, isDryRun: dryRun) }
    }

    /// Evicts everything that is not pinned and that nobody reads. What was promoted stays.
    ///
    /// - Returns: The charged bytes that were freed.
    @discardableResult
    public func evictAll() async throws(CacheError) -> Int64 {
        try await run { engine throws(CacheError) in try engine.evict(.max) }
    }

    /// All cached items in the order of priority and, within one, of ``CachedItem/lastUse``. With `lru` and
    /// `fifo` that is the order in which they would be evicted; with `sieve` it is the order of storing, and
    /// items that were used since are spared once.
    ///
    /// - Complexity: O(n) in the items, all of which are returned at once.
    public func items() async throws(CacheError) -> [CachedItem] {
        try await run { engine throws(CacheError) in try engine.items() }
    }

    /// Does at once what is done about once a second while the cache is in use: evicts what has expired,
    /// follows the volume with the budget, and gives way under pressure.
    public func trim() async throws(CacheError) {
        try await run { engine throws(CacheError) in try engine.maintain() }
    }

    /// How much space the volume has, and what follows from it.
    ///
    /// - Complexity: Independent of the number of items.
    public func capacity() async throws(CacheError) -> CapacityReport {
        try await run { engine throws(CacheError) in try engine.capacity() }
    }

    /// - Complexity: Independent of the number of items.
    public func statistics() async throws(CacheError) -> CacheStatistics {
        try await run { engine throws(CacheError) in try engine.statistics() }
    }

    /// The configuration in force.
    public func configuration() async throws(CacheError) -> CacheConfiguration {
        try await run { engine throws(CacheError) in try engine.configuration.current() }
    }

    /// Replaces the configuration for all processes, durably. A smaller budget takes effect at once.
    ///
    /// - Throws: ``CacheError/configuration(_:)`` for one that cannot be used, such as a capacity model
    ///   that contradicts itself; the old one stays in force then.
    public func configure(_ configuration: CacheConfiguration) async throws(CacheError) {
        try await run { engine throws(CacheError) in try engine.configure(configuration) }
    }

    /// Changes some of the configuration for all processes, durably, and leaves the rest as it is now,
    /// whoever set it. A smaller budget takes effect at once.
    ///
    /// ```swift
    /// try await cache.configure { $0.isStoringEnabled = false }
    /// ```
    ///
    /// - Parameter change: Changes the configuration in force. Others wait meanwhile.
    /// - Returns: The new configuration.
    /// - Throws: As ``configure(_:)``.
    @discardableResult
    public func configure(
        changing change: @Sendable (inout CacheConfiguration) -> Void
    ) async throws(CacheError) -> CacheConfiguration {
        try await run { engine throws(CacheError) in try engine.configure(changing: change) }
    }
}

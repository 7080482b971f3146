/// What is where: for whoever looks at the cache as a whole.
extension PrefetchCache {
    /// What the items of each source take, those that are charged most first. What was promoted is not among
    /// it.
    ///
    /// - Complexity: O(n) in the items, none of which is kept in memory.
    public func sources() async throws(CacheError) -> [SourceUsage] {
        try await run { engine throws(CacheError) in try engine.sources() }
    }

    /// What is kept of items that were broken off and that nobody writes now, in the order in which it would
    /// be evicted.
    ///
    /// - Complexity: O(n) in the partials, all of which are returned at once.
    public func partials() async throws(CacheError) -> [KeptPartial] {
        try await run { engine throws(CacheError) in try engine.partials() }
    }

    /// The files that items became, in the order of their opening, also those that their user has moved or
    /// deleted since.
    ///
    /// - Throws: ``CacheError/database(name:message:)``. A file that cannot be looked at has no
    ///   ``PromotedFile/presentLength``.
    /// - Complexity: O(n) in the promotions, all of which are returned at once, with a `stat` for each.
    public func promotedFiles() async throws(CacheError) -> [PromotedFile] {
        try await run { engine throws(CacheError) in try engine.promotedFiles() }
    }
}

/// Overviews of the cache as a whole.
extension PrefetchCache {
    /// Returns the space that the cached items of each source take, ordered by charged bytes, largest first.
    /// Promoted files are not included.
    ///
    /// - Complexity: O(n) in the items, none of which is kept in memory.
    public func sources() async throws(CacheError) -> [SourceUsage] {
        try await run { engine throws(CacheError) in try engine.sources() }
    }

    /// Returns the partials that are kept and that no writer is using, in the order of eviction.
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

public import PrefetchCaching

extension PrefetchCache {
    /// Opens a cache for `body` and closes it whatever happens: one that is open defends its folders
    /// against being removed.
    public static func with<Result>(
        _ areas: StorageAreas, _ body: (PrefetchCache) async throws -> Result
    ) async throws -> Result {
        let cache = try await PrefetchCache(areas: areas)
        let result: Result
        do {
            result = try await body(cache)
        } catch {
            do {
                try await cache.close()
            } catch {
                // What went wrong before is the one to tell.
            }
            throw error
        }
        try await cache.close()
        return result
    }
}

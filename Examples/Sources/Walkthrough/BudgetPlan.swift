import Foundation
import PrefetchCache

/// A budget that is too small on purpose: without pressure there is no eviction to see.
struct BudgetPlan {
    private static let percent: Int64 = 40
    /// So many of the largest item fit in any case: those that are being stored at the same time,
    /// and some room for what is kept. Else all that the walkthrough shows would depend on luck.
    private static let largestItems = Int64(StoreAhead.width) + 1

    /// Charged bytes of all items, when there is room for all.
    let everything: Int64
    let budget: ByteCount
    /// Whether it had to be more than the percentage, for the sake of the largest item.
    let isRaised: Bool

    /// Stores all files in a cache of their own, to learn what they take.
    static func rehearsing(_ files: [SourceFile], in container: URL) async throws -> BudgetPlan {
        let items = try await PrefetchCache.with(.container(at: container)) { cache in
            for file in files {
                try Task.checkCancellation()
                try await cache.store(contentsOf: file.url, as: file.metadata)
            }
            return try await cache.items()
        }
        try FileManager.default.removeItem(at: container)
        return BudgetPlan(items)
    }

    private init(_ items: [CachedItem]) {
        everything = items.reduce(0) { $0 + $1.chargedLength }
        // Until a long file is stored, the cache reserves what it takes should nothing of it compress.
        let largest = items.map { max($0.chargedLength, $0.contentLength) }.max() ?? 0
        let wanted = everything * Self.percent / 100
        let least = largest * Self.largestItems
        isRaised = least > wanted
        budget = .bytes(max(wanted, least))
    }
}

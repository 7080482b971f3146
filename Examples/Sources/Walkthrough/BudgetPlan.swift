import Foundation
import PrefetchCaching

/// A budget that is too small on purpose: without pressure, nothing is evicted.
struct BudgetPlan {
    private static let percent: Int64 = 40
    /// This many of the largest item always fit: those that are being stored at the same time, and one more to
    /// keep. Otherwise the outcome would depend on luck.
    private static let largestItems = Int64(StoreAhead.width) + 1

    /// The charged bytes of all items, if all fit.
    let everything: Int64
    let budget: ByteCount
    /// Whether the budget had to exceed the percentage, for the sake of the largest item.
    let isRaised: Bool

    /// Stores all files in a separate cache, to learn how much they are charged.
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
        everything = items.reduce(0) { $0 + $1.chargedBytes }
        // Until a long file is stored, the cache reserves its uncompressed length.
        let largest = items.map { max($0.chargedBytes, $0.contentBytes) }.max() ?? 0
        let wanted = everything * Self.percent / 100
        let least = largest * Self.largestItems
        isRaised = least > wanted
        budget = .bytes(max(wanted, least))
    }
}

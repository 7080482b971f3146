@testable import PrefetchCaching
@testable import cachectl

extension CacheSample {
    /// A sample of a cache of 10 MiB on a volume of 100 GiB.
    ///
    /// - Parameters:
    ///   - keys: Those of the items, of 1 KiB each; `nil` when there are too many.
    ///   - second: When it was sampled, in seconds.
    static func sample(
        _ keys: [String]? = [], second: Int64 = 0, sources: [SourceUsage] = [],
        _ change: (inout CacheStatistics) -> Void = { _ in }
    ) throws -> CacheSample {
        var statistics = CacheStatistics()
        statistics.items = keys?.count ?? 0
        statistics.budgetBytes = 10 << 20
        change(&statistics)
        var items: [ItemKey: Seen]?
        if let keys {
            items = [:]
            for key in keys { items?[try ItemKey(key)] = Seen(storedAt: 0, chargedBytes: 1024) }
        }
        return CacheSample(
            time: second * 1000, statistics: statistics, sources: sources, totalBytes: 100 << 30,
            availableBytes: 40 << 30, items: items)
    }
}

extension SourceUsage {
    static func sample(_ source: String, items: Int = 1, charged: Int64 = 1024) -> SourceUsage {
        SourceUsage(
            source: source, items: items, contentBytes: charged, storedBytes: charged, chargedBytes: charged)
    }
}

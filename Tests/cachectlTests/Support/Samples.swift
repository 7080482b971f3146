@testable import PrefetchCaching
@testable import cachectl

extension CacheSample {
    /// A sample of a cache of 10 MiB on a volume of 100 GiB.
    ///
    /// - Parameter second: When it was sampled, in seconds.
    static func sample(
        _ entries: [JournalEntry] = [], second: Int64 = 0, sources: [SourceUsage] = [],
        _ change: (inout CacheStatistics) -> Void = { _ in }
    ) -> CacheSample {
        var statistics = CacheStatistics()
        statistics.budgetBytes = 10 << 20
        change(&statistics)
        return CacheSample(
            time: second * 1000, statistics: statistics, sources: sources,
            volume: VolumeState(total: 100 << 30, available: 40 << 30), entries: entries)
    }
}

extension JournalEntry {
    /// An entry about an item of 1 KiB.
    static func sample(_ kind: Kind, _ key: String = "", _ reason: String = "", second: Int64 = 0)
        -> JournalEntry
    {
        JournalEntry(
            time: second * 1000, kind: kind, key: key, reason: reason, contentBytes: key.isEmpty ? 0 : 1000,
            chargedBytes: key.isEmpty ? 0 : 1024)
    }
}

extension SourceUsage {
    static func sample(_ source: String, items: Int = 1, charged: Int64 = 1024) -> SourceUsage {
        SourceUsage(
            source: source, items: items, contentBytes: charged, storedBytes: charged, chargedBytes: charged)
    }
}

internal import PrefetchCache

/// The statistics as JSON.
struct StatisticsRecord: Encodable {
    let items: Int
    let contentBytes: Int64
    let storedBytes: Int64
    let chargedBytes: Int64
    let budgetBytes: Int64
    let pressure: String
    let hits: Int64
    let misses: Int64
    let stores: Int64
    let promotions: Int64
    let evictions: Int64
    let evictedBytes: Int64
    let refusals: [String: Int64]
    let catalogBytes: Int64
    let quarantinedItems: Int
    let partials: Int
    let partialBytes: Int64

    init(_ statistics: CacheStatistics) {
        items = statistics.items
        contentBytes = statistics.contentBytes
        storedBytes = statistics.storedBytes
        chargedBytes = statistics.chargedBytes
        budgetBytes = statistics.budgetBytes
        pressure = statistics.pressure.rawValue
        hits = statistics.hits
        misses = statistics.misses
        stores = statistics.stores
        promotions = statistics.promotions
        evictions = statistics.evictions
        evictedBytes = statistics.evictedBytes
        refusals = statistics.refusals
        catalogBytes = statistics.catalogBytes
        quarantinedItems = statistics.quarantinedItems
        partials = statistics.partials
        partialBytes = statistics.partialBytes
    }
}

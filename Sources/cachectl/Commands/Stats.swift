internal import ArgumentParser
internal import PrefetchCache

/// `cachectl stats`
struct Stats: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Tells what the cache holds, and what it did.")

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        let statistics = try await session.cache.statistics()
        if session.output.isJSON {
            try session.output.print(json: StatisticsRecord(statistics))
        } else {
            let budget = try await session.cache.configuration().budget
            for line in StatisticsTable(statistics, budget).lines { try session.output.print(line) }
        }
    }
}

/// The statistics as JSON. Names and meanings stay as long as `schemaVersion` does.
private struct StatisticsRecord: Encodable {
    let schemaVersion = 1
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

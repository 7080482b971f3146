internal import ArgumentParser
internal import PrefetchCaching

struct Trim: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim",
        abstract: "Evicts what the cache should no longer hold.",
        discussion: """
            Evicts expired items, then the coldest items for as long as too little of the budget is free or the \
            volume is short of space. Items that an app has pinned, or is reading or opening, stay.

            EXAMPLES:
              # Trim the cache now
              cachectl trim --app org.example.app
            """)

    @OptionGroup var shared: SharedOptions

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let (_, evicted) = try await Evicted.during(cache) { try await cache.trim() }
        let report = try await cache.capacity()
        let (charged, budget) = (report.chargedBytes, report.budgetBytes)
        try output.report(
            [
                "evictedItems": evicted.items, "evictedBytes": evicted.bytes, "chargedBytes": charged,
                "budgetBytes": budget, "pressure": report.pressure.rawValue,
            ],
            TextTable([
                "evicted": evicted.text,
                "charged": "\(Bar.text(charged, of: budget)), \(Size.text(charged)) of \(Size.text(budget))",
                "pressure": report.pressure.rawValue,
            ]).lines, isConfirmation: true)
    }
}

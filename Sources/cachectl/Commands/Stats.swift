internal import ArgumentParser
internal import PrefetchCaching

struct Stats: CacheCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what the cache holds and what it has done.",
        discussion: """
            EXAMPLES:
              # Show what the cache holds and has done
              cachectl stats --app org.example.podcasts
              # The same as JSON
              cachectl stats --json --container ./AppData
            """)

    @OptionGroup var shared: SharedOptions

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let statistics = try await cache.statistics()
        if output.isJSON { return try output.print(json: statistics.json) }
        let budget = try await cache.configuration().budget
        try output.print(statistics.lines(budget))
    }
}

extension CacheStatistics {
    fileprivate func lines(_ configured: CacheConfiguration.Budget) -> [String] {
        let used = "\(Bar.text(chargedBytes, of: budgetBytes)), \(Size.text(chargedBytes))"
        return TextTable([
            "budget": "\(used) of \(Size.text(budgetBytes))\(configured.origin)",
            "pressure": pressure == .normal
                ? pressure.rawValue
                : "\(pressure.rawValue), nothing is admitted; 'cachectl capacity' shows more",
            "items": quarantinedItems == 0 ? "\(items)" : "\(items), and \(quarantinedItems) damaged",
            "content": Size.text(contentBytes),
            "stored": Size.text(storedBytes)
                + (contentBytes > 0
                    ? ", \(Bar.percent(storedBytes, of: contentBytes)) % of the content" : ""),
            "partials": partials == 0
                ? "none" : "\(partials) interrupted, \(Size.text(partialBytes)) kept to resume",
            "catalog": Size.text(catalogBytes),
            "reads": "\(hits) hits, \(misses) misses"
                + (hits + misses > 0 ? " (\(Bar.percent(hits, of: hits + misses)) % hits)" : ""),
            "stores": "\(stores)",
            "promotions": "\(promotions)",
            "evictions": "\(evictions) (\(Size.text(evictedBytes)))",
            "refusals": refusals.isEmpty ? "none" : refusalText,
        ]).lines
    }

    /// Refusal counts by reason: `2 lowPriority, 1 pressure`.
    var refusalText: String {
        refusals.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}

extension CacheConfiguration.Budget {
    /// What an automatic budget depends on, to be appended to its size.
    var origin: String {
        switch self {
        case .fixed: ""
        case .automatic: ", as the volume allows"
        case .automaticUpTo(let cap): ", as the volume allows, up to \(Size.text(cap.bytes))"
        }
    }
}

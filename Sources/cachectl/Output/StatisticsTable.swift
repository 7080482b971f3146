internal import PrefetchCache

/// The statistics as text.
struct StatisticsTable {
    private let statistics: CacheStatistics
    private let configured: CacheConfiguration.Budget

    init(_ statistics: CacheStatistics, _ budget: CacheConfiguration.Budget) {
        self.statistics = statistics
        configured = budget
    }

    var lines: [String] {
        var table = TextTable([.left, .left])
        table.add(["budget", budget])
        table.add(["pressure", pressure])
        table.add(["items", items])
        table.add(["content", Size.text(statistics.contentBytes)])
        table.add(["stored", stored])
        table.add(["partials", partials])
        table.add(["catalog", Size.text(statistics.catalogBytes)])
        table.add(["reads", reads])
        table.add(["stores", "\(statistics.stores)"])
        table.add(["promotions", "\(statistics.promotions)"])
        table.add(["evictions", "\(statistics.evictions) (\(Size.text(statistics.evictedBytes)))"])
        table.add(["refusals", refusals])
        return table.lines
    }

    private var budget: String {
        let charged = statistics.chargedBytes
        let budget = statistics.budgetBytes
        return "\(Bar.text(charged, of: budget)), \(Size.text(charged)) of \(Size.text(budget))\(origin)"
    }

    private var origin: String {
        switch configured {
        case .fixed: ""
        case .automatic: ", as the volume allows"
        case .automaticUpTo(let cap): ", as the volume allows, up to \(Size.text(cap.bytes))"
        }
    }

    private var pressure: String {
        let level = statistics.pressure
        return level == .normal
            ? level.rawValue : "\(level.rawValue), nothing is admitted; 'cachectl capacity' shows more"
    }

    private var items: String {
        let quarantined = statistics.quarantinedItems
        return quarantined == 0 ? "\(statistics.items)" : "\(statistics.items), and \(quarantined) damaged"
    }

    private var stored: String {
        let stored = Size.text(statistics.storedBytes)
        guard statistics.contentBytes > 0 else { return stored }
        let percent = Bar.percent(statistics.storedBytes, of: statistics.contentBytes)
        return "\(stored), \(percent) % of the content"
    }

    private var partials: String {
        let count = statistics.partials
        return count == 0
            ? "none" : "\(count) interrupted, \(Size.text(statistics.partialBytes)) kept to resume"
    }

    private var reads: String {
        let hits = statistics.hits
        let reads = hits + statistics.misses
        let text = "\(hits) hits, \(statistics.misses) misses"
        return reads == 0 ? text : "\(text) (\(Bar.percent(hits, of: reads)) % hits)"
    }

    private var refusals: String {
        guard !statistics.refusals.isEmpty else { return "none" }
        return statistics.refusals.sorted { $0.key < $1.key }
            .map { "\($0.value) \($0.key.escapedForTerminal)" }.joined(separator: ", ")
    }
}

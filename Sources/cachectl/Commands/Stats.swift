internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

struct Stats: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows what the cache holds, and what it was worth.",
        discussion: """
            The figures of all processes are kept by day and source, and outlive purges and updates. A hit is an open \
            or a read that finds its item in the cache; an item is used when it is opened or read for the first time, \
            and wasted when it leaves before that. USED is the share of those of which one of the two is known. Days are \
            those of UTC.

            EXAMPLES:
              # Show what the cache holds and whether it was worth it
              cachectl stats --app org.example.app
              # The feeds of the last month, as a table
              cachectl stats --since 30d --by source --app org.example.app
              # Every sum of every day
              cachectl stats --by day --json --container ./AppData
            """)

    enum Grouping: String, ExpressibleByArgument, CaseIterable {
        case source, day, week
    }

    @Option(
        "Count only from so long ago: 12h, 30d or 4w; whole days.", "duration", parse: Lifetime.init(_:))
    var since: Lifetime?

    @Option(help: ArgumentHelp("One line for each source, day or week.", valueName: "group"))
    var by: Grouping?

    @Flag(help: "Set all figures to 0, which cannot be undone. The cache itself stays as it is.")
    var reset = false

    @Flag(help: "Required by --reset.")
    var yes = false

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { !reset }

    func validate() throws {
        if reset, since != nil || by != nil {
            throw ValidationError("--reset sets all figures to 0, of all days")
        }
        if yes != reset { throw ValidationError("--reset cannot be undone: give it together with --yes") }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        if reset {
            try await cache.resetHistory()
            return try output.confirm("all figures are 0")
        }
        let first = since.map { Date(milliseconds: Timestamp.now - $0.milliseconds) }
        let history = try await cache.history(since: first)
        if let by {
            let outlook = by == .source ? try await cache.outlook().sources : []
            return try print(history, by, outlook, to: output)
        }
        let statistics = try await cache.statistics()
        if output.isJSON {
            return try output.print(json: statistics.json.adding(["figures": history.total.json]))
        }
        let budget = try await cache.configuration().budget
        try output.print(statistics.lines(budget, history.total))
    }

    private func print(
        _ history: PrefetchHistory, _ grouping: Grouping, _ outlook: [SourceOutlook], to output: Output
    ) throws {
        let groups: [(name: String, figures: PrefetchFigures)] =
            switch grouping {
            case .source:
                // By name where they are equal: the sort is stable.
                history.bySource.sorted { $0.figures[.storedBytes] > $1.figures[.storedBytes] }
                    .map { ($0.source, $0.figures) }
            case .day: history.byDay.map { (Self.text($0.day), $0.figures) }
            case .week: history.byWeek.map { (Self.text($0.day), $0.figures) }
            }
        if output.isJSON {
            let rows = groups.lazy.map { group -> JSONObject in
                let row: JSONObject = [grouping.rawValue: group.name, "figures": group.figures.json]
                guard let known = outlook.first(where: { $0.isOf(group.name) }) else { return row }
                return row.adding(["openRate": known.openRate, "isPaused": known.isPaused])
            }
            return try output.print(json: rows, as: "rows")
        }
        // What is to be expected is known of sources only.
        let learnt = outlook.isEmpty ? [] : ["LEARNT"]
        var table = TextTable(Array(repeating: .right, count: 7 + learnt.count) + [.left])
        table.add(
            ["STORED", "SIZE", "USED", "WASTED", "HITS", "MISSES", "AFTER"] + learnt + [
                grouping.rawValue.uppercased()
            ])
        for (name, figures) in groups {
            table.add(
                [
                    "\(figures[.stored])", Size.text(figures[.storedBytes]), figures.usedRatio.percent,
                    Size.text(figures[.wastedBytes]), "\(figures.hits)", "\(figures[.missed])",
                    figures.meanDelay.map(Timespan.text(seconds:)) ?? "–",
                ] + learnt.map { _ in outlook.first { $0.isOf(name) }?.text ?? "–" }
                    + [name.orNone])
        }
        try output.print(groups.isEmpty ? ["nothing was counted"] : table.lines)
    }

    /// `2026-11-24`
    private static func text(_ day: Date) -> String {
        day.timeIntervalSince1970 < 86400
            ? "earlier" : String(Timestamp.text(milliseconds: day.milliseconds).prefix(10))
    }
}

extension SourceOutlook {
    /// As everywhere, sources are told apart by their bytes.
    fileprivate func isOf(_ name: String) -> Bool { source.utf8.elementsEqual(name.utf8) }

    /// `34 %`, `2 %, paused`
    fileprivate var text: String { Double?(openRate).percent + (isPaused ? ", paused" : "") }
}

extension CacheStatistics {
    /// - Parameter figures: What is shown of the past.
    fileprivate func lines(_ configured: CacheConfiguration.Budget, _ figures: PrefetchFigures) -> [String] {
        let holdings: KeyValuePairs<String, String?> = [
            "budget": budgetText(configured),
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
        ]
        return TextTable(holdings.map { $0 } + figures.described.map { $0 }).lines
    }

    private func budgetText(_ configured: CacheConfiguration.Budget) -> String {
        let budget = "\(Size.text(budgetBytes))\(configured.origin)"
        guard chargedBytes > budgetBytes else {
            return "\(Bar.text(chargedBytes, of: budgetBytes)), \(Size.text(chargedBytes)) of \(budget)"
        }
        // A percentage above 100 would look like a broken promise.
        let reason = configured.isFixed ? "was lowered" : "fell with the free space of the volume"
        return
            "\(Size.text(chargedBytes)) are held, and the budget \(reason) to \(budget): the app evicts the rest, "
            + "and so does 'cachectl trim'"
    }
}

extension PrefetchFigures {
    /// What prefetching did and was worth.
    fileprivate var described: KeyValuePairs<String, String?> {
        let left = Departure.allCases.filter { $0 != .opened }.map { ($0, self[$0.items]) }
            .filter { $1 > 0 }.map { "\($1) \($0.words)" }
        var refused: [String] = []
        for metric in Metric.allCases where "\(metric)".hasPrefix("refused") && self[metric] > 0 {
            refused.append("\(self[metric]) \("\(metric)".dropFirst(7).lowercasedFirst)")
        }
        let lookups = hits + self[.missed]
        return [
            "prefetched": "\(Count.text(self[.stored], "item")), \(Size.text(self[.storedBytes]))"
                + (savedBytes > 0 ? "; compression saved \(Size.text(savedBytes))" : ""),
            "worth it": self[.used] + self[.wasted] == 0
                ? "nothing was used or left yet"
                : "\(usedRatio.percent) of the \(Count.text(self[.used] + self[.wasted], "item")) used or left: "
                    + "\(self[.used]) used (\(Size.text(self[.usedBytes]))), "
                    + "\(self[.wasted]) wasted (\(Size.text(self[.wastedBytes])))",
            "hits": lookups == 0
                ? "nothing was opened or read"
                : "\(hitRatio.percent): \(hits) of \(lookups) (\(self[.opened]) opens, \(self[.read]) reads, "
                    + "\(self[.missed]) missed)",
            "first use": meanDelay.map { "\(Timespan.text(seconds: $0)) after storing, on average" },
            "left": left.isEmpty ? "none unopened" : left.joined(separator: ", "),
            "refusals": refused.isEmpty ? "none" : refused.joined(separator: ", "),
            "downloads": self[.fetchedBytes] == 0
                ? nil
                : "\(Size.text(self[.fetchedBytes])), again \(Size.text(self[.fetchedAgainBytes])), "
                    + "in vain \(Size.text(self[.fetchedInVainBytes]))",
            "delivered": self[.delivered] == 0
                ? nil
                : "\(Count.text(self[.delivered], "item")) on request, \(Size.text(self[.deliveredBytes]))",
        ]
    }

    /// Every sum that is not 0, by name, and the ratios.
    var json: JSONObject {
        let ratios: JSONObject = [
            "hits": hits, "hitRatio": hitRatio.orNull, "byteHitRatio": byteHitRatio.orNull,
            "usedRatio": usedRatio.orNull, "usedByteRatio": usedByteRatio.orNull,
            "meanSecondsToFirstUse": meanDelay.orNull,
        ]
        return all.reduce(ratios) { $0.adding(JSONObject(dictionaryLiteral: ("\($1.metric)", $1.value))) }
    }
}

extension Double? {
    /// `65 %`
    fileprivate var percent: String { map { "\(Int(($0 * 100).rounded())) %" } ?? "–" }
}

extension Substring {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
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

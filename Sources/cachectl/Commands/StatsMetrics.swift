internal import PrefetchCaching

/// What `stats --openmetrics` prints.
extension MetricFamily {
    /// The most sources that have series of their own: those of which most was stored.
    ///
    /// The rest is the difference from the sums over all sources. A series for it would fall whenever a source leaves it,
    /// which looks like a restart and would count everything in it again.
    static let mostSources = 100

    static func all(
        of statistics: CacheStatistics, _ capacity: CapacityReport, _ history: PrefetchHistory
    ) -> [MetricFamily] {
        let gauges = CacheGauge.all(statistics, capacity).map { gauge in
            MetricFamily(
                name: gauge.name, kind: .gauge, help: gauge.help,
                samples: [Sample(value: "\(gauge.value)")])
        }
        return gauges + sums(of: history)
    }

    static func sums(of history: PrefetchHistory) -> [MetricFamily] {
        sums(of: history.total) + sums(of: history.bySource)
    }

    private static func sums(of figures: PrefetchFigures) -> [MetricFamily] {
        func counter(_ name: String, _ metric: PrefetchFigures.Metric, _ help: String) -> MetricFamily {
            MetricFamily(
                name: "prefetchcache_\(name)_total", kind: .counter, help: help,
                samples: [Sample(value: "\(figures[metric])")])
        }
        func counter(
            _ name: String, by label: String, _ help: String,
            _ metrics: [(String, PrefetchFigures.Metric)]
        ) -> MetricFamily {
            MetricFamily(
                name: "prefetchcache_\(name)_total", kind: .counter, help: help, label: label,
                samples: metrics.map { Sample(label: $0, value: "\(figures[$1])") })
        }
        let reasons = Departure.allCases
        return [
            counter("stored_items", .stored, "Items that were stored in the cache."),
            counter("stored_content_bytes", .storedBytes, "Content of the items that were stored."),
            counter(
                "stored_file_bytes", .storedFileBytes, "Files of the items that were stored, compressed."),
            counter("used_items", .used, "Items that were opened or read for the first time."),
            counter("used_content_bytes", .usedBytes, "Content of the items that were used."),
            counter("wasted_items", .wasted, "Items that left the cache without having been used."),
            counter("wasted_content_bytes", .wastedBytes, "Content of the items that were wasted."),
            counter(
                "lookups", by: "result",
                "Opens and reads by the user: those that found a cached item (opened, read), found nothing (missed), "
                    + "or found a file that the user already had (reopened).",
                [("opened", .opened), ("read", .read), ("missed", .missed), ("reopened", .reopened)]),
            counter("missed_content_bytes", .missedBytes, "Content of missed items, as far as it is known."),
            MetricFamily(
                name: "prefetchcache_first_use_delay_seconds", kind: .summary,
                help: "Time from storing to first use.",
                samples: [
                    Sample(suffix: "_sum", value: "\(Double(figures[.delayMilliseconds]) / 1000)"),
                    Sample(suffix: "_count", value: "\(figures[.delays])"),
                ]),
            counter(
                "delivered_items", .delivered, "Items that the user asked for and that were never cached."),
            counter("delivered_content_bytes", .deliveredBytes, "Content of the items that were delivered."),
            counter(
                "left_items", by: "reason", "Items that left the cache.",
                reasons.map { ($0.rawValue, $0.items) }),
            counter(
                "left_content_bytes", by: "reason", "Content of the items that left.",
                reasons.map { ($0.rawValue, $0.bytes) }),
            counter("evicted_charged_bytes", .evictedChargedBytes, "What evictions freed of the budget."),
            counter(
                "refused_items", by: "reason", "Items that were not stored.",
                Refusal.reasons.map { ($0.reason, $0.metric) }),
            counter("fetched_bytes", .fetchedBytes, "What the downloader fetched over the network."),
            counter(
                "fetched_again_bytes", .fetchedAgainBytes,
                "What of the fetched bytes had been fetched before."),
            counter("fetched_in_vain_bytes", .fetchedInVainBytes, "What of the fetched bytes was not kept."),
        ]
    }

    private static func sums(
        of sources: [(source: String, figures: PrefetchFigures)]
    ) -> [MetricFamily] {
        // Two names that look the same are one series: a series that occurs twice makes the whole file invalid.
        let named = sources.reduce(into: [String: PrefetchFigures]()) { sums, row in
            sums[row.source.escapedForTerminal, default: PrefetchFigures()].add(row.figures)
        }
        let largest = named.sorted { ($0.value[.storedBytes], $1.key) > ($1.value[.storedBytes], $0.key) }
            .prefix(mostSources)
        func counter(_ name: String, _ help: String, _ sum: (PrefetchFigures) -> Int64) -> MetricFamily {
            MetricFamily(
                name: "prefetchcache_source_\(name)_total", kind: .counter, help: help, label: "source",
                samples: largest.map { Sample(label: $0.key, value: "\(sum($0.value))") })
        }
        return [
            counter("stored_items", "Items of a source that were stored.") { $0[.stored] },
            counter("stored_content_bytes", "Content of the items of a source that were stored.") {
                $0[.storedBytes]
            },
            counter("used_items", "Items of a source that were used for the first time.") { $0[.used] },
            counter("used_content_bytes", "Content of the items of a source that were used.") {
                $0[.usedBytes]
            },
            counter("wasted_items", "Items of a source that left unused.") { $0[.wasted] },
            counter("wasted_content_bytes", "Content of the items of a source that left unused.") {
                $0[.wastedBytes]
            },
            counter("hits", "Opens and reads that found a cached item of a source.") { $0.hits },
            counter("missed", "Opens and reads that missed an item that a source had once stored.") {
                $0[.missed]
            },
        ]
    }
}

extension SharedOptions {
    /// Which cache it is, as the user named it.
    var metricLabels: [(name: String, value: String)] {
        [("app", app), ("container", container?.displayText)].compactMap { name, value in
            value.map { (name, $0.escapedForTerminal) }
        }
    }
}

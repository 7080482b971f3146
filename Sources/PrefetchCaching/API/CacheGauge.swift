package import PrefetchVolumeCapacity

/// One thing that can be measured of a cache at any moment, for those who watch it: `cachectl` and PrefetchMetrics give it
/// the same name.
package struct CacheGauge: Sendable {
    /// As Prometheus wants it: the unit at the end, and always a base unit.
    package let name: String
    /// What it is, in one sentence.
    package let help: String
    package let value: Int64

    private init(_ name: String, _ value: Int64, _ help: String) {
        self.name = "prefetchcache_\(name)"
        self.help = help
        self.value = value
    }

    package static func all(_ statistics: CacheStatistics, _ capacity: CapacityReport) -> [CacheGauge] {
        [
            CacheGauge("cached_items", Int64(statistics.items), "Cached items."),
            CacheGauge("cached_content_bytes", statistics.contentBytes, "Content of all cached items."),
            CacheGauge("cached_file_bytes", statistics.storedBytes, "Files of all cached items, compressed."),
            CacheGauge(
                "charged_bytes", statistics.chargedBytes,
                "What items, partials and the quarantine are charged against the budget."),
            CacheGauge(
                "reserved_bytes", capacity.heldBytes,
                "What is reserved of the budget, for stores under way and in advance."),
            CacheGauge(
                "catalog_bytes", statistics.catalogBytes, "The catalog, which counts against the budget."),
            CacheGauge("budget_bytes", statistics.budgetBytes, "The budget in force."),
            CacheGauge(
                "ceiling_bytes", capacity.ceilingBytes,
                "The most that may be charged now: the budget, or less if the volume cannot spare it."),
            pressure(statistics.pressure),
            CacheGauge("partials", Int64(statistics.partials), "Interrupted downloads that can be resumed."),
            CacheGauge("partial_bytes", statistics.partialBytes, "What interrupted downloads are charged."),
            CacheGauge("quarantined_items", Int64(statistics.quarantinedItems), "Damaged items."),
            CacheGauge(
                "volume_available_bytes", capacity.capacity.state.available,
                "What the volume has available."),
            CacheGauge("volume_size_bytes", capacity.capacity.state.total, "The size of the volume."),
        ]
    }

    package static func pressure(_ level: Pressure) -> CacheGauge {
        CacheGauge(
            "pressure_level", Int64(Pressure.allCases.filter { $0 < level }.count),
            "The volume's pressure: 0 normal, 1 elevated, 2 low, 3 critical.")
    }
}

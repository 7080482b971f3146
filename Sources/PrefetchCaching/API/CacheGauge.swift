package import PrefetchVolumeCapacity

/// One thing that can be measured of a cache at any moment. The article Metrics says what each is.
package struct CacheGauge: Sendable {
    /// As Prometheus wants it: the unit at the end, and always a base unit.
    package let name: String
    package let value: Int64

    private init(_ name: String, _ value: Int64) {
        self.name = "prefetchcache_\(name)"
        self.value = value
    }

    package static func all(_ statistics: CacheStatistics, _ capacity: CapacityReport) -> [CacheGauge] {
        [
            CacheGauge("cached_items", Int64(statistics.items)),
            CacheGauge("cached_content_bytes", statistics.contentBytes),
            CacheGauge("cached_file_bytes", statistics.storedBytes),
            CacheGauge("charged_bytes", statistics.chargedBytes),
            CacheGauge("reserved_bytes", capacity.heldBytes),
            CacheGauge("catalog_bytes", statistics.catalogBytes),
            CacheGauge("budget_bytes", statistics.budgetBytes),
            CacheGauge("ceiling_bytes", capacity.ceilingBytes),
            pressure(statistics.pressure),
            CacheGauge("partials", Int64(statistics.partials)),
            CacheGauge("partial_bytes", statistics.partialBytes),
            CacheGauge("quarantined_items", Int64(statistics.quarantinedItems)),
            CacheGauge("volume_available_bytes", capacity.capacity.state.available),
            CacheGauge("volume_size_bytes", capacity.capacity.state.total),
        ]
    }

    package static func pressure(_ level: Pressure) -> CacheGauge {
        CacheGauge("pressure_level", Int64(Pressure.allCases.filter { $0 < level }.count))
    }
}

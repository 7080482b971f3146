internal import PrefetchCaching

/// The state of a cache at one time.
struct CacheSample: Sendable {
    /// Milliseconds since 1970.
    let time: Int64
    let statistics: CacheStatistics
    /// The sources, largest charge first.
    let sources: [SourceUsage]
    /// Bytes of the volume.
    let totalBytes: Int64
    let availableBytes: Int64
    /// The items by key, or `nil` when there are too many.
    let items: [ItemKey: Seen]?

    func json(_ events: [WatchEvent]) -> JSONObject {
        let sources: [JSONObject] = sources.map {
            [
                "source": $0.source, "items": $0.items, "contentBytes": $0.contentBytes,
                "storedBytes": $0.storedBytes, "chargedBytes": $0.chargedBytes,
            ]
        }
        return [
            "timeMilliseconds": time,
            "volume": ["totalBytes": totalBytes, "availableBytes": availableBytes] as JSONObject,
            "statistics": statistics.json, "sources": sources, "events": events.map(\.json),
        ]
    }

    /// What is compared and reported about an item.
    struct Seen: Hashable, Sendable {
        let storedAt: Int64
        let chargedBytes: Int64
    }
}

/// Samples a cache repeatedly and cheaply: each sample takes a few short reads, and holds no lock between them.
struct CacheSampler {
    /// With more items than this, only counters are compared: listing takes a few microseconds per item.
    static let maximumItems = 1000
    /// Work that is linear in the number of items is repeated only after this many times its own duration.
    static let rest = 20
    /// Retries when the cache changes between reads.
    private static let retries = 3

    let cache: PrefetchCache
    private var sources: [SourceUsage] = []
    private var nextSources: ContinuousClock.Instant?

    init(_ cache: PrefetchCache) { self.cache = cache }

    mutating func sample() async throws -> CacheSample {
        try await updateSources()
        let volume = try await cache.capacity().capacity.state
        var statistics = try await cache.statistics()
        var items = try await listed(statistics)
        // Counters and list are read separately, but must agree so that the counted items can be named.
        for _ in 0..<Self.retries where items != nil {
            let later = try await cache.statistics()
            let changes = (statistics.stores, statistics.promotions, statistics.evictions)
            guard (later.stores, later.promotions, later.evictions) != changes else { break }
            statistics = later
            items = try await listed(later)
        }
        return CacheSample(
            time: Timestamp.now, statistics: statistics, sources: sources, totalBytes: volume.total,
            availableBytes: volume.available, items: items)
    }

    /// `nil` when there are too many items.
    private func listed(_ statistics: CacheStatistics) async throws -> [ItemKey: CacheSample.Seen]? {
        guard statistics.items <= Self.maximumItems else { return nil }
        var items: [ItemKey: CacheSample.Seen] = [:]
        for item in try await cache.items() {
            items[item.key] = CacheSample.Seen(storedAt: item.storedAt, chargedBytes: item.chargedBytes)
        }
        return items
    }

    private mutating func updateSources() async throws {
        let start = ContinuousClock.now
        if let nextSources, start < nextSources { return }
        sources = try await cache.sources()
        let end = ContinuousClock.now
        nextSources = end + (end - start) * Self.rest
    }
}

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
    /// What happened since the previous sample; empty for the first.
    let entries: [JournalEntry]

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
}

/// Samples a cache repeatedly and cheaply: each sample takes a few short reads, and holds no lock between them.
struct CacheSampler {
    /// Work that is linear in the number of items is repeated only after this many times its own duration.
    static let rest = 20

    let cache: PrefetchCache
    private var position: JournalPosition?
    private var sources: [SourceUsage] = []
    private var nextSources: ContinuousClock.Instant?

    init(_ cache: PrefetchCache) { self.cache = cache }

    mutating func sample() async throws -> CacheSample {
        try await updateSources()
        let volume = try await cache.capacity().capacity.state
        let journal = try await cache.journal(after: position)
        let entries = position == nil ? [] : journal.entries
        position = journal.end
        return CacheSample(
            time: Timestamp.now, statistics: try await cache.statistics(), sources: sources,
            totalBytes: volume.total, availableBytes: volume.available, entries: entries)
    }

    private mutating func updateSources() async throws {
        let start = ContinuousClock.now
        if let nextSources, start < nextSources { return }
        sources = try await cache.sources()
        let end = ContinuousClock.now
        nextSources = end + (end - start) * Self.rest
    }
}

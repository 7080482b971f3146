internal import PrefetchCache

/// What was seen of a cache at one time.
struct CacheLook: Sendable {
    /// Milliseconds since 1970.
    let time: Int64
    let statistics: CacheStatistics
    /// Those that are charged most come first.
    let sources: [SourceUsage]
    /// Bytes of the volume.
    let totalBytes: Int64
    let availableBytes: Int64
    /// The items by key, or `nil` where there are too many to look at each.
    let items: [ItemKey: Seen]?

    /// What is worth knowing of an item once it is gone.
    struct Seen: Hashable, Sendable {
        let storedAt: Int64
        let chargedBytes: Int64
    }
}

/// Looks at a cache again and again, as cheaply as can be: every look is a few reads that end at once, and nothing
/// is held in between.
struct CacheLooking {
    /// With more items than this only numbers are compared: a list takes some microseconds per item.
    static let mostItems = 1000
    /// What takes time in proportion to the items is done again after this many times as long.
    static let rest = 20
    /// A cache that changes all the time is not asked for ever.
    private static let attempts = 3

    private let cache: PrefetchCache
    private let now: () -> Int64
    private let uptime: () -> Duration
    private var sources: [SourceUsage] = []
    private var nextSources: Duration?

    /// - Parameters:
    ///   - now: Milliseconds since 1970.
    ///   - uptime: See `CacheEnvironment.uptime`.
    init(_ cache: PrefetchCache, now: @escaping () -> Int64, uptime: @escaping () -> Duration) {
        self.cache = cache
        self.now = now
        self.uptime = uptime
    }

    mutating func look() async throws -> CacheLook {
        try await lookAtSources()
        let volume = try await cache.capacity().capacity.state
        var statistics = try await cache.statistics()
        var items = try await listed(statistics)
        // The counters and the list are two reads: they are to be of one state, so that what was counted is named.
        for _ in 0..<Self.attempts where items != nil {
            let later = try await cache.statistics()
            guard later.changes != statistics.changes else { break }
            statistics = later
            items = try await listed(later)
        }
        return CacheLook(
            time: now(), statistics: statistics, sources: sources, totalBytes: volume.total,
            availableBytes: volume.available, items: items)
    }

    /// `nil` where there are too many items.
    private func listed(_ statistics: CacheStatistics) async throws -> [ItemKey: CacheLook.Seen]? {
        guard statistics.items <= Self.mostItems else { return nil }
        var items: [ItemKey: CacheLook.Seen] = [:]
        for item in try await cache.items() {
            items[item.key] = CacheLook.Seen(storedAt: item.storedAt, chargedBytes: item.chargedLength)
        }
        return items
    }

    private mutating func lookAtSources() async throws {
        let start = uptime()
        if let nextSources, start < nextSources { return }
        sources = try await cache.sources()
        let end = uptime()
        nextSources = end + (end - start) * Self.rest
    }
}

extension CacheStatistics {
    /// Grows with every item that comes or goes.
    fileprivate var changes: [Int64] { [stores, promotions, evictions] }
}

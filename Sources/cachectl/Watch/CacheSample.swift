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

    private func listed(_ statistics: CacheStatistics) async throws -> [ItemKey: CacheSample.Seen]? {
        guard statistics.items <= Self.maximumItems else { return nil }
        let items = try await cache.items().map {
            ($0.key, CacheSample.Seen(storedAt: $0.storedAt, chargedBytes: $0.chargedBytes))
        }
        return Dictionary(items) { $1 }
    }

    private mutating func updateSources() async throws {
        let start = ContinuousClock.now
        if let nextSources, start < nextSources { return }
        sources = try await cache.sources()
        let end = ContinuousClock.now
        nextSources = end + (end - start) * Self.rest
    }
}

/// A change to the cache, by any process, between two samples.
struct WatchEvent: Hashable {
    enum Kind: String {
        case stored, opened, evicted, refused, damaged, pressure, budget, rebuilt
    }

    /// When it was noticed, in milliseconds since 1970.
    let time: Int64
    let kind: Kind
    var count: Int64?
    var bytes: Int64?
    /// The reason for a refusal, or the new pressure level.
    var detail: String?
    /// Some of the items concerned, where known.
    var keys: [String] = []

    static let maximumKeys = 3

    /// The events between an older and a newer sample.
    static func events(from old: CacheSample, to new: CacheSample) -> [WatchEvent] {
        let (before, after) = (old.statistics, new.statistics)
        let time = new.time
        // Counters that decrease mean that the catalog, which holds them, was rebuilt.
        guard after.stores >= before.stores, after.evictions >= before.evictions,
            after.promotions >= before.promotions
        else { return [WatchEvent(time: time, kind: .rebuilt, count: Int64(after.items))] }
        var events: [WatchEvent] = []

        func add(
            _ kind: Kind, _ count: Int64, bytes: Int64? = nil, detail: String? = nil, keys: [String] = []
        ) {
            guard count > 0 else { return }
            let some = Array(keys.prefix(maximumKeys))
            events.append(
                Self(time: time, kind: kind, count: count, bytes: bytes, detail: detail, keys: some))
        }

        var (stored, gone): ([String], [String]) = ([], [])
        var storedBytes: Int64?
        if let before = old.items, let after = new.items {
            let added = after.filter { key, item in before[key]?.storedAt != item.storedAt }
            stored = added.sorted { ($1.value.storedAt, $0.key.string) < ($0.value.storedAt, $1.key.string) }
                .map(\.key.string)
            storedBytes = added.isEmpty ? nil : added.values.reduce(0) { $0 + $1.chargedBytes }
            gone = before.keys.filter { after[$0] == nil }.map(\.string).sorted()
        }
        let promotions = after.promotions - before.promotions
        let evictions = after.evictions - before.evictions
        add(.stored, after.stores - before.stores, bytes: storedBytes, keys: stored)
        // If both happened, there is no telling which items were promoted and which evicted.
        add(.opened, promotions, keys: evictions == 0 ? gone : [])
        add(
            .evicted, evictions, bytes: after.evictedBytes - before.evictedBytes,
            keys: promotions == 0 ? gone : [])
        for (reason, count) in after.refusals.sorted(by: { $0.key < $1.key }) {
            add(.refused, count - (before.refusals[reason] ?? 0), detail: reason)
        }
        add(.damaged, Int64(after.quarantinedItems - before.quarantinedItems))
        if after.pressure != before.pressure {
            events.append(WatchEvent(time: time, kind: .pressure, detail: after.pressure.rawValue))
        }
        if after.budgetBytes != before.budgetBytes {
            events.append(WatchEvent(time: time, kind: .budget, bytes: after.budgetBytes))
        }
        return events
    }

    /// The event as text, safe for a terminal.
    var text: String {
        let number = count ?? 0
        let size = bytes.map { " (\(Size.text($0)))" } ?? ""
        let names = keys.isEmpty ? "" : ": " + keys.map(\.escapedForTerminal).joined(separator: ", ")
        let more = Int64(keys.count) < number && !keys.isEmpty ? ", …" : ""
        let what = Count.text(number, "item")
        return switch kind {
        case .stored: "stored \(what)\(size)\(names)\(more)"
        case .opened: "opened \(what)\(names)\(more)"
        case .evicted: "evicted \(what)\(size)\(names)\(more)"
        case .refused: "refused \(what) (\((detail ?? "").escapedForTerminal))"
        case .damaged: "quarantined \(what) as damaged"
        case .pressure: "pressure is now \(detail ?? "")"
        case .budget: "the budget is now \(Size.text(bytes ?? 0))"
        case .rebuilt: "the catalog was rebuilt from \(what)"
        }
    }

    var json: JSONObject {
        [
            "event": kind.rawValue, "count": count, "bytes": bytes, "detail": detail,
            "keys": keys.isEmpty ? nil : keys,
        ]
    }
}

internal import PrefetchCaching

/// The state of a cache at one time.
struct CacheSample {
    /// Milliseconds since 1970.
    let time: Int64
    let statistics: CacheStatistics
    /// The sources, largest charge first.
    let sources: [SourceUsage]
    let volume: VolumeState
    /// What happened since the previous sample; empty for the first.
    let entries: [JournalEntry]

    var json: JSONObject {
        let sources: [JSONObject] = sources.map {
            [
                "source": $0.source, "items": $0.items, "contentBytes": $0.contentBytes,
                "storedBytes": $0.storedBytes, "chargedBytes": $0.chargedBytes,
            ]
        }
        return [
            "timeMilliseconds": time,
            "volume": ["totalBytes": volume.total, "availableBytes": volume.available] as JSONObject,
            "statistics": statistics.json, "sources": sources,
            "events": WatchEvent.events(of: entries).map(\.json),
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
        let start = ContinuousClock.now
        if nextSources.map({ start >= $0 }) ?? true {
            sources = try await cache.sources()
            let end = ContinuousClock.now
            nextSources = end + (end - start) * Self.rest
        }
        let journal = try await cache.journal(after: position)
        defer { position = journal.end }
        let entries = position == nil ? [] : journal.entries
        return CacheSample(
            time: Timestamp.now, statistics: try await cache.statistics(), sources: sources,
            volume: try await cache.capacity().capacity.state, entries: entries)
    }
}

/// What happened to the cache between two samples, by any process: the entries of the journal of one kind and reason.
struct WatchEvent {
    private let kind: String
    private var count: Int64?
    private var bytes: Int64?
    /// Why items were evicted or refused, or the new level of pressure.
    private var detail: String?
    private var keys: [String]

    /// In the order in which each happened first. Uses of what is there, and items that were replaced, are left to the
    /// counters.
    static func events(of entries: [JournalEntry]) -> [WatchEvent] {
        entries.compactMap(WatchEvent.init).reduce(into: []) { events, event in
            // Each new level and budget counts by itself.
            guard let count = event.count,
                let index = events.firstIndex(where: { $0.kind == event.kind && $0.detail == event.detail })
            else { return events.append(event) }
            events[index].count = events[index].count.map { $0 &+ count }
            events[index].bytes = events[index].bytes.map { $0 &+ (event.bytes ?? 0) }
            events[index].keys = Array((events[index].keys + event.keys).prefix(3))
        }
    }

    private init?(_ entry: JournalEntry) {
        var (kind, count) = (entry.kind.rawValue, Optional(entry.count))
        switch entry.kind {
        case .read, .missed, .reopened: return nil
        case .opened, .delivered, .rebuilt: break
        case .stored: bytes = entry.chargedBytes
        case .left:
            switch entry.departure {
            case .replaced: return nil
            case .damaged: kind = "damaged"
            case .purged: (kind, bytes) = ("purged", entry.chargedBytes)
            default: (kind, bytes, detail) = ("evicted", entry.chargedBytes, entry.reason)
            }
        case .refused: detail = entry.reason
        case .pressure: (count, detail) = (nil, entry.reason)
        case .budget: (count, bytes) = (nil, entry.chargedBytes)
        case .itemsLost: kind = "purged"
        case .entriesLost: kind = "lost"
        }
        (self.kind, self.count) = (kind, count)
        keys = entry.key.isEmpty ? [] : [entry.key]
    }

    var json: JSONObject {
        [
            "event": kind, "count": count, "bytes": bytes, "detail": detail,
            "keys": keys.isEmpty ? nil : keys,
        ]
    }
}

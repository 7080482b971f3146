internal import PrefetchCache

/// One look as JSON.
struct WatchRecord: Encodable {
    let timeMilliseconds: Int64
    let volume: VolumeRecord
    let statistics: StatisticsRecord
    let sources: [SourceRecord]
    /// The events since the previous look.
    let events: [EventRecord]

    init(_ look: CacheLook, _ events: [WatchEvent]) {
        timeMilliseconds = look.time
        volume = VolumeRecord(totalBytes: look.totalBytes, availableBytes: look.availableBytes)
        statistics = StatisticsRecord(look.statistics)
        sources = look.sources.map(SourceRecord.init)
        self.events = events.map(EventRecord.init)
    }

    struct VolumeRecord: Encodable {
        let totalBytes: Int64
        let availableBytes: Int64
    }

    struct EventRecord: Encodable {
        let event: String
        let count: Int64?
        let bytes: Int64?
        let detail: String?
        /// Left out when unknown.
        let keys: [String]?

        init(_ event: WatchEvent) {
            self.event = event.kind.rawValue
            count = event.count
            bytes = event.bytes
            detail = event.detail
            keys = event.keys.isEmpty ? nil : event.keys
        }
    }
}

/// The usage of one source, as JSON.
struct SourceRecord: Encodable {
    let source: String
    let items: Int
    let contentBytes: Int64
    let storedBytes: Int64
    let chargedBytes: Int64

    init(_ usage: SourceUsage) {
        source = usage.source
        items = usage.items
        contentBytes = usage.contentBytes
        storedBytes = usage.storedBytes
        chargedBytes = usage.chargedBytes
    }
}

internal import PrefetchCaching

/// What happened to the cache between two samples, by any process: several entries of the journal in one line.
struct WatchEvent: Hashable {
    enum Kind: String {
        case stored, opened, delivered, evicted, refused, damaged, purged, pressure, budget, rebuilt, lost
    }

    /// When it was noted last, in milliseconds since 1970.
    let time: Int64
    let kind: Kind
    var count: Int64?
    /// What the items were charged, or the new budget.
    var bytes: Int64?
    /// Why items were evicted or refused, or the new level of pressure.
    var detail: String?
    /// Some of the items concerned.
    var keys: [String] = []

    static let maximumKeys = 3

    /// What entries tell, by kind and reason, in the order in which each happened first. Uses of what is there, and items
    /// that were replaced, are left to the counters.
    static func events(of entries: [JournalEntry]) -> [WatchEvent] {
        var events: [WatchEvent] = []
        for entry in entries {
            guard let event = WatchEvent(entry) else { continue }
            // Each new level and budget counts by itself.
            if event.count != nil,
                let index = events.firstIndex(where: { $0.kind == event.kind && $0.detail == event.detail })
            {
                events[index].add(event)
            } else {
                events.append(event)
            }
        }
        return events
    }

    private mutating func add(_ more: WatchEvent) {
        self = WatchEvent(
            time: more.time, kind: kind, count: (count ?? 0) &+ (more.count ?? 0),
            bytes: bytes.map { $0 &+ (more.bytes ?? 0) }, detail: detail,
            keys: keys.count < Self.maximumKeys ? keys + more.keys : keys)
    }

    /// The event as text, safe for a terminal.
    var text: String {
        let number = count ?? 0
        let size = bytes.map { " (\(Size.text($0)))" } ?? ""
        let names = keys.isEmpty ? "" : ": " + keys.map(\.escapedForTerminal).joined(separator: ", ")
        let more = Int64(keys.count) < number && !keys.isEmpty ? ", …" : ""
        let what = Count.text(number, "item")
        let detail = (detail ?? "").escapedForTerminal
        return switch kind {
        case .stored: "stored \(what)\(size)\(names)\(more)"
        case .opened: "opened \(what)\(names)\(more)"
        case .delivered: "delivered \(what)\(names)\(more)"
        case .evicted: "\(verb) \(what)\(size)\(names)\(more)"
        case .refused: "refused \(what) (\(detail))\(names)\(more)"
        case .damaged: "quarantined \(what) as damaged\(names)\(more)"
        case .purged: "the system purged \(what)\(size)\(names)\(more)"
        case .pressure: "pressure is now \(detail)"
        case .budget: "the budget is now \(Size.text(bytes ?? 0))"
        case .rebuilt: "the catalog was rebuilt from \(what)"
        case .lost: "\(Count.text(number, "event")) dropped from the journal"
        }
    }

    private var verb: String {
        switch detail {
        case Departure.pressure.rawValue: "evicted under pressure"
        case Departure.budget.rawValue: "evicted for the budget"
        case Departure.expired.rawValue: "expired"
        case Departure.request.rawValue: "evicted on request"
        case Departure.removed.rawValue: "removed"
        default: "evicted"
        }
    }

    var json: JSONObject {
        [
            "event": kind.rawValue, "count": count, "bytes": bytes, "detail": detail,
            "keys": keys.isEmpty ? nil : keys,
        ]
    }
}

extension WatchEvent {
    private init?(_ entry: JournalEntry) {
        var (count, bytes, detail): (Int64?, Int64?, String?) = (entry.count, nil, nil)
        switch entry.kind {
        case .read, .missed, .reopened: return nil
        case .stored: (kind, bytes) = (.stored, entry.chargedBytes)
        case .opened: kind = .opened
        case .delivered: kind = .delivered
        case .left:
            switch entry.departure {
            case .replaced: return nil
            case .damaged: kind = .damaged
            case .purged: (kind, bytes) = (.purged, entry.chargedBytes)
            default: (kind, bytes, detail) = (.evicted, entry.chargedBytes, entry.reason)
            }
        case .refused: (kind, detail) = (.refused, entry.reason)
        case .pressure: (kind, count, detail) = (.pressure, nil, entry.reason)
        case .budget: (kind, count, bytes) = (.budget, nil, entry.chargedBytes)
        case .rebuilt: kind = .rebuilt
        case .itemsLost: kind = .purged
        case .entriesLost: kind = .lost
        }
        time = entry.time
        self.count = count
        self.bytes = bytes
        self.detail = detail
        keys = entry.key.isEmpty ? [] : [entry.key]
    }
}

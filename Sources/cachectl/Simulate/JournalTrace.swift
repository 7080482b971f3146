internal import Foundation
internal import PrefetchCaching

/// What the journal tells of arrivals in the cache and of what the user wanted, in the form in which it can be replayed
/// with another budget and policy.
///
/// Only items whose arrival is told are followed. An arrival is an item that was stored, or refused for lack of room, the
/// latter once until it is stored. A miss is a read if items of its source are read and never opened, and otherwise an
/// open. What left for a reason that no budget changes (it was replaced, removed, damaged or purged, or its time was
/// over) leaves in every replay.
struct JournalTrace {
    enum Act: Hashable {
        /// - Parameter isNew: Whether the user had opened an earlier item of the key: the file of that one is gone then.
        case arrival(source: String, contentBytes: Int64, chargedBytes: Int64, isNew: Bool)
        case open(count: Int64)
        case read(count: Int64)
        case departure(Departure)
    }

    struct Event: Hashable {
        /// Milliseconds since 1970, never before that of the event before.
        let time: Int64
        let key: ItemKey
        let act: Act
    }

    private(set) var events: [Event] = []
    /// The times of the first and the last entry that was considered; `nil` if there is none.
    private(set) var period: ClosedRange<Int64>?

    private static let lackOfRoom: Set = ["overBudget", "lowPriority", "lowValue"]
    private static let departures: Set<Departure> = [
        .replaced, .expired, .request, .removed, .damaged, .purged,
    ]
    /// Larger numbers are those of a damaged file.
    private static let mostLookups: Int64 = 1_000_000

    /// - Parameter start: Only entries from then on are considered, in milliseconds since 1970; `nil` for all.
    init(_ entries: [JournalEntry], since start: Int64? = nil) {
        let readSources = Self.sourcesOnlyRead(entries)
        var sources: [String: String] = [:]
        var refused: Set<String> = []
        var opened: Set<String> = []
        var time: Int64 = 0
        for entry in entries where start.map({ entry.time >= $0 }) ?? true {
            time = min(max(time, entry.time), Timestamp.writable.upperBound - 1)
            period = (period?.lowerBound ?? time)...time
            guard let key = Self.key(of: entry), let count = Self.count(of: entry) else { continue }

            func note(_ act: Act) { events.append(Event(time: time, key: key, act: act)) }

            func arrive(isNew: Bool) {
                sources[entry.key] = entry.source
                note(
                    .arrival(
                        source: entry.source, contentBytes: entry.contentBytes,
                        chargedBytes: entry.chargedBytes > 0 ? entry.chargedBytes : entry.contentBytes,
                        isNew: isNew))
            }

            switch entry.kind {
            case .stored:
                refused.remove(entry.key)
                arrive(isNew: opened.remove(entry.key) != nil)
            case .refused:
                if Self.lackOfRoom.contains(entry.reason), entry.contentBytes > 0,
                    refused.insert(entry.key).inserted
                {
                    arrive(isNew: false)
                }
            case .opened where sources[entry.key] != nil:
                opened.insert(entry.key)
                note(.open(count: 1))
            case .read where sources[entry.key] != nil: note(.read(count: count))
            case .missed:
                guard let source = sources[entry.key] else { continue }
                note(readSources.contains(source) ? .read(count: count) : .open(count: count))
            case .left:
                if let departure = entry.departure, Self.departures.contains(departure) {
                    note(.departure(departure))
                }
            default: continue
            }
        }
    }

    /// How many days the entries cover.
    var days: Double {
        period.map { (Double($0.upperBound) - Double($0.lowerBound)) / 86_400_000 } ?? 0
    }

    var arrivals: Int {
        events.count { if case .arrival = $0.act { true } else { false } }
    }

    private static func sourcesOnlyRead(_ entries: [JournalEntry]) -> Set<String> {
        var (read, opened): (Set<String>, Set<String>) = ([], [])
        for entry in entries {
            if entry.kind == .read { read.insert(entry.source) }
            if entry.kind == .opened { opened.insert(entry.source) }
        }
        return read.subtracting(opened)
    }

    private static func key(of entry: JournalEntry) -> ItemKey? {
        do {
            return try ItemKey(entry.key)
        } catch {
            // Many misses at once are counted without their keys.
            return nil
        }
    }

    /// - Returns: `nil` for an entry whose numbers make no sense.
    private static func count(of entry: JournalEntry) -> Int64? {
        let bytes = 0...(2 * ItemLimits.contentBytes)
        guard (1...mostLookups).contains(entry.count), bytes.contains(entry.contentBytes),
            bytes.contains(entry.chargedBytes)
        else { return nil }
        return entry.count
    }
}

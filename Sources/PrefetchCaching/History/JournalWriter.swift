internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchVolumeCapacity
internal import Synchronization
internal import SystemPackage

/// What happened, in order and with reasons, in a bounded file that all processes append to.
///
/// Entries are kept in memory and saved with the ``History``. A process that is killed takes the last second along; a lost
/// or damaged file costs the journal and nothing else.
final class JournalWriter: Sendable {
    fileprivate struct State: Sendable {
        /// What the file does not hold yet.
        var unsaved: [JournalEntry] = []
        /// Where opens and reads of the user's files are among these, by key: a program may read one many times a second.
        var reopened: [[UInt8]: Int] = [:]
        /// Entries that were dropped before these.
        var lost: Int64 = 0
        /// Up to where the file was found sound.
        var position: SharedLog.Position?
    }

    static let version: UInt8 = 1
    /// With more unsaved entries than this, the older half is dropped.
    static let mostUnsaved = 16_384
    /// The most bytes that are kept when the file is full, and that one process saves at once.
    private static let half = Int(SharedLog.limit) / 2
    /// Times that go back further are those of a clock that was set.
    private static let disorder: Int64 = 10_000

    /// `nil` for a simulation, which has no journal.
    private let log: SharedLog?
    private let environment: CacheEnvironment
    private let state = UnfairMutex(State())
    /// Held while the file is written, so that the state stays available meanwhile.
    private let access = UnfairMutex(())

    /// - Parameter folder: The cache's folder in Application Support; `nil` for a simulation.
    init(in folder: Directory?, _ environment: CacheEnvironment) {
        // No two records are the same, since entries have times.
        log = folder.map {
            SharedLog(
                CacheLayout.journal, in: $0, kind: "PCacheJ", version: Self.version, hasDistinctRecords: true)
        }
        self.environment = environment
    }

    var hasUnsaved: Bool { state.withLock { !$0.unsaved.isEmpty } }

    /// - Parameter time: Milliseconds since 1970.
    func note(_ events: [UsageEvent], at time: Int64) {
        guard log != nil else { return }
        state.withLock { state in
            for event in events { if let entry = JournalEntry(event, at: time) { state.add(entry) } }
        }
    }

    /// Appends what was noted since the last call. What cannot be written now stays in memory.
    ///
    /// - Parameter isWaiting: Whether to wait while another process writes.
    func save(isWaiting: Bool = true) {
        guard let log else { return }
        access.withLock { _ in
            let (entries, lost, position) = state.withLock { state in
                defer { state = State(position: state.position) }
                return (state.unsaved, state.lost, state.position)
            }
            guard !entries.isEmpty else { return }
            do throws(SharedLog.Failure) {
                let record = Self.record(of: entries, lost: lost)
                let end = try log.append(record, after: position, isWaiting: isWaiting) {
                    Self.newest(of: $0 + [record])
                }
                state.withLock { $0.position = end }
            } catch {
                environment.logger.debug("The journal was not written.", metadata: ["error": "\(error)"])
                // One of a newer version will not become writable.
                if case .isNewer = error { return }
                state.withLock { state in
                    let newer = state
                    state = State(lost: lost, position: newer.position)
                    for entry in entries { state.add(entry) }
                    if newer.lost > 0 { state.drop(state.unsaved.count) }
                    state.lost += newer.lost
                    for entry in newer.unsaved { state.add(entry) }
                }
            }
        }
    }

    /// - Throws: ``CacheError/fileSystem(_:)``, and ``CacheError/configuration(_:)`` for a journal of a newer version.
    func read(after position: JournalPosition?) throws(CacheError) -> Journal {
        let position = position?.log
        let news: SharedLog.News
        do throws(SharedLog.Failure) {
            news = try log?.read(after: position) ?? SharedLog.News()
        } catch {
            switch error {
            case .fileSystem(let error): throw .fileSystem(error)
            case .isNewer: throw .configuration("the journal was written by a newer version and is kept")
            // Readers take no lock.
            case .isBusy: return Journal(entries: [], end: JournalPosition(log: position), isComplete: true)
            }
        }
        let entries = news.records.flatMap(Self.entries)
        return Journal(
            entries: Self.ordered(entries), end: JournalPosition(log: news.position),
            isComplete: !news.isWhole || position?.last == nil && entries.first?.kind != .entriesLost)
    }

    /// Processes save at different moments, so of two of them the one that noted its entries later may save them first.
    private static func ordered(_ entries: [JournalEntry]) -> [JournalEntry] {
        var ordered: [JournalEntry] = []
        ordered.reserveCapacity(entries.count)
        var run: [JournalEntry] = []
        for entry in entries {
            if let last = run.last, entry.time < last.time &- disorder {
                ordered += run.sorted { $0.time < $1.time }
                run = []
            }
            run.append(entry)
        }
        return ordered + run.sorted { $0.time < $1.time }
    }

    /// One record of all entries or, if they are too long, of the newest.
    private static func record(of entries: [JournalEntry], lost: Int64) -> [UInt8] {
        var kept = entries[...]
        var lost = lost
        while true {
            let note = lostNote(lost, at: kept.first?.time ?? 0)
            let record = JournalRecord.encoded(note + kept)
            if record.count <= half / 2 || kept.count <= 1 { return record }
            lost += Int64(kept.count / 2)
            kept = kept.dropFirst(kept.count / 2)
        }
    }

    private static func lostNote(_ count: Int64, at time: Int64) -> [JournalEntry] {
        count > 0 ? [JournalEntry(time: time, kind: .entriesLost, count: count)] : []
    }

    /// The newest records, of half of what the file may hold, after a record that says how many entries were dropped.
    private static func newest(of records: [[UInt8]]) -> [[UInt8]] {
        var first = records.endIndex
        var bytes = 0
        while first > 0, bytes + records[first - 1].count <= half {
            first -= 1
            bytes += records[first].count
        }
        let dropped = records[..<first].flatMap(entries)
        let count = dropped.reduce(Int64(0)) { $0 &+ ($1.kind == .entriesLost ? $1.count : 1) }
        let note = lostNote(count, at: dropped.last?.time ?? 0)
        return (note.isEmpty ? [] : [JournalRecord.encoded(note)]) + records[first...]
    }

    private static func entries(of record: [UInt8]) -> [JournalEntry] {
        do {
            return try JournalRecord.entries(decoding: record)
        } catch {
            // Its checksum matches, so a version that writes differently has made it.
            return []
        }
    }
}

extension JournalWriter.State {
    fileprivate mutating func add(_ entry: JournalEntry) {
        if entry.kind == .reopened {
            let key = Array(entry.key.utf8)
            if let index = reopened[key] {
                unsaved[index].count += entry.count
                return
            }
            reopened[key] = unsaved.count
        }
        unsaved.append(entry)
        if unsaved.count > JournalWriter.mostUnsaved { drop(unsaved.count / 2) }
    }

    /// Drops the oldest.
    fileprivate mutating func drop(_ count: Int) {
        unsaved.removeFirst(count)
        reopened = [:]
        lost += Int64(count)
    }
}

extension JournalEntry {
    /// - Returns: `nil` for what is only counted: it was noted as a refusal.
    fileprivate init?(_ event: UsageEvent, at time: Int64) {
        self.init(
            time: time, kind: .stored, key: event.key, source: event.source, contentBytes: event.contentBytes,
            chargedBytes: event.chargedBytes, storedAt: event.storedAt)
        switch event.kind {
        case .stored: break
        case .read(let count, _): (kind, self.count) = (.read, count)
        case .missed(let count, let wasStored):
            (kind, self.count) = (.missed, count)
            if !wasStored { self.storedAt = nil }
        case .left(let departure, let wasUsed):
            kind = departure == .opened ? .opened : .left
            reason = departure.rawValue
            wasRead = wasUsed
        case .delivered: kind = .delivered
        case .reopened: kind = .reopened
        case .refused(let metric):
            kind = .refused
            reason = Refusal.reasons.first { $0.metric == metric }?.reason ?? ""
        case .declined: return nil
        case .pressure(let level): (kind, reason) = (.pressure, level.rawValue)
        case .budget: kind = .budget
        case .rebuilt(let items): (kind, count) = (.rebuilt, Int64(items))
        case .vanished(let items): (kind, count) = (.itemsLost, items)
        }
    }
}

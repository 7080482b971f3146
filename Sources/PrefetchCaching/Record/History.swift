internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization

/// What the cache has done, in daily sums per source and in a journal, both of which survive purges and updates.
///
/// Events are collected in memory and written to the ``Record`` about once a second, and after each transaction of the
/// catalog, where no call waits for another process. A process that is killed takes the last second along.
final class History: Sendable {
    private struct State: Sendable {
        /// What the record does not hold yet.
        var unsaved = HistoryRows()
        var journal = JournalBacklog()
        var departures = 0
    }

    /// `nil` for a history in memory, which has no journal.
    private let record: Record?
    private let promotedKeys: PromotedKeys?
    private let environment: CacheEnvironment
    private let state = UnfairMutex(State())
    /// What was made of the rows last, and when.
    private let known = UnfairMutex<(knowledge: SourceKnowledge, at: Duration)?>(nil)
    /// How long that is good for: what is learnt in a day changes little …
    private static let freshness = Duration.seconds(6 * 3600)
    /// … but at first everything is new.
    private static let firstFreshness = Duration.seconds(60)
    /// Held while the record is read or written, so that the state stays available meanwhile.
    private let access = UnfairMutex(())

    /// - Parameters:
    ///   - record: `nil` for a history in memory.
    ///   - promotedKeys: `nil` where nothing is ever opened.
    init(in record: Record?, _ environment: CacheEnvironment, promotedKeys: PromotedKeys?) {
        self.record = record
        self.promotedKeys = promotedKeys
        self.environment = environment
    }

    /// Whether there is anything for ``save()`` to do.
    var hasUnsaved: Bool {
        record != nil && state.withLock { !$0.unsaved.isEmpty || !$0.journal.entries.isEmpty }
    }

    /// How many items have left so far by transactions of this object.
    var departures: Int { state.withLock(\.departures) }

    func record(_ event: UsageEvent) { record([event]) }

    /// Records what a transaction has changed, and saves it at once: with its rows in the catalog, nobody else would count
    /// it if this process were killed. An item whose file is gone may have been opened by a process that has not
    /// noted it yet, or was killed.
    func record(_ changes: RowChanges) {
        let departures = changes.events.count { if case .left = $0.kind { true } else { false } }
        if departures > 0 { state.withLock { $0.departures += departures } }
        record(
            changes.events.map { event in
                guard case .left(.purged, let wasUsed) = event.kind, isOpened(event.key) else { return event }
                var event = event
                event.kind = .left(.opened, wasUsed: wasUsed)
                return event
            })
        if !changes.events.isEmpty { save(isWaiting: false) }
    }

    private func isOpened(_ key: String) -> Bool {
        do {
            return try promotedKeys?.entry(for: ItemKey(key).hash) != nil
        } catch {
            return false
        }
    }

    /// Counts what has left, or arrived, without the rows that would have shown it: the catalog was lost, with or without
    /// the items.
    func balance(with found: [SourceUsage]) {
        let rows = rows()
        let known = rows.bySource
        var there: [SourceName: Int64] = [:]
        for source in found {
            there[rows.admitted(SourceName(source.source)), default: 0] += Int64(source.items)
        }
        for source in Set(known.keys).union(there.keys) {
            let sums = known[source] ?? PrefetchFigures()
            let lost = sums.residents - (there[source] ?? 0)
            var figures = PrefetchFigures()
            if lost > 0 {
                figures.add(lost, to: .leftPurged)
                record(UsageEvent(kind: .vanished(items: lost), source: source.text))
                // Which of the items were used is not known unless all are gone.
                let share = Double(lost) / Double(sums.residents)
                figures.add(Int64((Double(max(0, sums.unusedResidents)) * share).rounded()), to: .wasted)
            } else {
                figures.add(-lost, to: .stored)
            }
            add(figures, to: source)
        }
    }

    func record(_ events: [UsageEvent]) {
        guard !events.isEmpty else { return }
        let now = environment.now()
        state.withLock { state in
            for event in events {
                event.count(in: &state.unsaved, now: now)
                guard record != nil, let entry = JournalEntry(event, at: now) else { continue }
                state.journal.add(entry)
            }
        }
    }

    /// Adds to the figures of a source, today.
    func add(_ figures: PrefetchFigures, to source: SourceName) {
        let today = HistoryDay.containing(environment.now())
        state.withLock { $0.unsaved.add(figures, day: today, source: source) }
    }

    /// The rows of all processes, as far as they have saved them, with those of this process.
    func rows() -> HistoryRows {
        access.withLock { _ in
            var rows = HistoryRows()
            do {
                rows = try record?.read { try HistoryRows(from: $0) } ?? rows
            } catch {
                environment.logger.debug("The figures cannot be read.", metadata: ["error": "\(error)"])
            }
            rows.add(state.withLock(\.unsaved))
            return rows
        }
    }

    /// What the rows say about the sources, at most six hours old.
    func knowledge() -> SourceKnowledge {
        let now = environment.uptime()
        let recent = known.withLock { known -> SourceKnowledge? in
            guard let known else { return nil }
            let freshness = known.knowledge.names.isEmpty ? Self.firstFreshness : Self.freshness
            return now - known.at < freshness ? known.knowledge : nil
        }
        if let recent { return recent }
        let knowledge = SourceKnowledge(rows(), now: environment.now())
        known.withLock { $0 = (knowledge, now) }
        return knowledge
    }

    /// Makes the record if there is none, before anything is promised of the room that it takes.
    func prepare() {
        do throws(CacheError) {
            try record?.create()
        } catch {
            environment.logger.debug("There is no record yet.", metadata: ["error": "\(error)"])
        }
    }

    /// Writes what was counted since the last call. What cannot be written now stays in memory.
    ///
    /// - Parameter isWaiting: Whether to wait while another process writes.
    func save(isWaiting: Bool = true) {
        guard let record else { return }
        access.withLock { _ in
            let (rows, journal) = state.withLock { state in
                defer { (state.unsaved, state.journal) = (HistoryRows(), JournalBacklog()) }
                return (state.unsaved, state.journal)
            }
            guard !rows.isEmpty || !journal.entries.isEmpty else { return }
            let today = HistoryDay.containing(environment.now())
            do {
                try record.count(isWaiting: isWaiting) { database in
                    try rows.add(to: database, today: today)
                    try JournalTable.append(journal.noted, to: database)
                }
            } catch {
                environment.logger.debug("The figures were not written.", metadata: ["error": "\(error)"])
                state.withLock { state in
                    var all = rows
                    all.add(state.unsaved)
                    state.unsaved = all
                    state.journal.insert(journal)
                }
            }
        }
    }

    /// What happened after `position`, in all processes.
    ///
    /// - Throws: ``CacheError/fileSystem(_:)``, and ``CacheError/newerLedger(version:)``.
    func journal(after position: JournalPosition?) throws(CacheError) -> Journal {
        let found = try record?.read { try JournalTable.read(after: position, in: $0) }
        guard let found else {
            return Journal(
                entries: [], end: JournalPosition(epoch: nil, number: 0), isComplete: position?.epoch == nil)
        }
        return Journal(entries: Self.ordered(found.entries), end: found.end, isComplete: found.isComplete)
    }

    /// Times that go back further are those of a clock that was set.
    private static let disorder: Int64 = 10_000

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

    /// Sets all sums to 0, except for how many items there are, and empties the journal.
    func reset() throws(CacheError) {
        var carried = HistoryRows()
        let today = HistoryDay.containing(environment.now())
        for (source, sums) in rows().bySource {
            var figures = PrefetchFigures()
            figures[.carried] = max(0, sums.residents)
            figures[.carriedUnused] = max(0, sums.unusedResidents)
            carried.add(figures, day: today, source: source)
        }
        try access.withLock { _ throws(CacheError) in
            try record?.count(isWaiting: true) { database in
                try carried.replaceAll(in: database)
                try JournalTable.removeAll(from: database)
            }
            state.withLock { $0 = State(unsaved: record == nil ? carried : HistoryRows()) }
        }
    }
}

/// The entries of the journal that were not written yet.
private struct JournalBacklog: Sendable {
    /// With more entries than this, the older half is dropped.
    private static let most = 16_384

    private(set) var entries: [JournalEntry] = []
    /// Where opens and reads of the user's files are among these, by key: a program may read one many times a second.
    private var reopened: [[UInt8]: Int] = [:]
    /// Entries that were dropped before these.
    private var lost: Int64 = 0

    /// The entries, after one that says how many were dropped.
    var noted: [JournalEntry] {
        let time = entries.first?.time ?? 0
        return (lost > 0 ? [JournalEntry(time: time, kind: .entriesLost, count: lost)] : []) + entries
    }

    mutating func add(_ entry: JournalEntry) {
        if entry.kind == .reopened {
            let key = Array(entry.key.utf8)
            if let index = reopened[key] {
                entries[index].count += entry.count
                return
            }
            reopened[key] = entries.count
        }
        entries.append(entry)
        guard entries.count > Self.most else { return }
        lost += Int64(entries.count / 2)
        entries.removeFirst(entries.count / 2)
        reopened = [:]
    }

    /// Puts earlier entries in front.
    mutating func insert(_ earlier: JournalBacklog) {
        let newer = self
        self = earlier
        if newer.lost > 0 {
            lost += Int64(entries.count) + newer.lost
            (entries, reopened) = ([], [:])
        }
        for entry in newer.entries { add(entry) }
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

internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization
internal import SystemPackage

/// What the cache has done, in daily sums per source that survive purges and updates.
///
/// Events are added up in memory and appended to the file about once a second, and after each transaction of the catalog,
/// where no call waits for another process. A process that is killed takes the last second along; a lost or damaged file
/// costs the sums and nothing else.
final class History: Sendable {
    private struct State: Sendable {
        /// What the file does not hold yet.
        var unsaved = HistoryRows()
        /// Up to where the file was found sound.
        var position: SharedLog.Position?
        /// The rows that were read from the file, and up to where: the next time only what follows is read.
        var read = HistoryRows()
        var readTo: SharedLog.Position?
        var departures = 0
    }

    /// `nil` for a history in memory.
    private let log: SharedLog?
    let journal: JournalWriter
    private let environment: CacheEnvironment
    private let isPromoted: @Sendable (ItemKey) throws(CacheError) -> Bool
    private let state = UnfairMutex(State())
    /// What was made of the rows last, and when.
    private let known = UnfairMutex<(knowledge: SourceKnowledge, at: Duration)?>(nil)
    /// How long that is good for: what is learnt in a day changes little …
    private static let freshness = Duration.seconds(6 * 3600)
    /// … but at first everything is new.
    private static let firstFreshness = Duration.seconds(60)
    /// Held while the file is read or written, so that the state stays available meanwhile.
    private let access = UnfairMutex(())

    static let version: UInt8 = 1

    /// - Parameters:
    ///   - folder: The cache's folder in Application Support; `nil` for a history in memory.
    ///   - isPromoted: Whether a key was opened, according to the ledger.
    init(
        in folder: Directory?, _ environment: CacheEnvironment,
        isPromoted: @escaping @Sendable (ItemKey) throws(CacheError) -> Bool
    ) {
        self.isPromoted = isPromoted
        log = folder.map {
            SharedLog(
                CacheLayout.history, in: $0, kind: "PCacheH", version: Self.version, hasDistinctRecords: false
            )
        }
        journal = JournalWriter(in: folder, environment)
        self.environment = environment
    }

    /// Whether there is anything for ``save()`` to do.
    var hasUnsaved: Bool {
        log != nil && state.withLock { !$0.unsaved.isEmpty } || journal.hasUnsaved
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
            return try isPromoted(ItemKey(key))
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
            for event in events { event.count(in: &state.unsaved, now: now) }
        }
        journal.note(events, at: now)
    }

    /// Adds to the figures of a source, today.
    func add(_ figures: PrefetchFigures, to source: SourceName) {
        let today = HistoryDay.containing(environment.now())
        state.withLock { $0.unsaved.add(figures, day: today, source: source) }
    }

    /// The rows of all processes, as far as they have saved them, with those of this process.
    ///
    /// - Complexity: Reads what the file has grown by, the first time all of it, of at most 1 MiB.
    func rows() -> HistoryRows {
        access.withLock { _ in
            var (rows, position) = state.withLock { ($0.read, $0.readTo) }
            if let log {
                do throws(SharedLog.Failure) {
                    let news = try log.read(after: position)
                    if news.isWhole { rows = HistoryRows() }
                    rows.add(decoding: news.records)
                    position = news.position
                } catch {
                    (rows, position) = (HistoryRows(), nil)
                    report(error, "The history cannot be read.")
                }
            }
            return state.withLock { state in
                (state.read, state.readTo) = (rows, position)
                rows.add(state.unsaved)
                return rows
            }
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

    /// Appends what was counted since the last call. What cannot be written now stays in memory.
    ///
    /// - Parameter isWaiting: Whether to wait while another process writes.
    func save(isWaiting: Bool = true) {
        journal.save(isWaiting: isWaiting)
        guard let log else { return }
        access.withLock { _ in
            let (position, unsaved) = state.withLock { state in
                defer { state.unsaved = HistoryRows() }
                return (state.position, state.unsaved)
            }
            guard !unsaved.isEmpty else { return }
            do throws(SharedLog.Failure) {
                let end = try log.append(unsaved.encoded, after: position, isWaiting: isWaiting) { records in
                    var rows = HistoryRows()
                    rows.add(decoding: records)
                    rows.add(unsaved)
                    return [summary(of: &rows)]
                }
                state.withLock { $0.position = end }
            } catch {
                report(error, "The history was not written.")
                state.withLock { state in
                    var all = unsaved
                    all.add(state.unsaved)
                    state.unsaved = all
                }
            }
        }
    }

    /// Sets all sums to 0, except for how many items there are.
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
            do throws(SharedLog.Failure) {
                try log?.replaceAll(by: carried.encoded)
            } catch {
                switch error {
                case .fileSystem(let error): throw .fileSystem(error)
                case .isBusy:
                    guard let log else { return }
                    throw .busy("history", [FilePath(root: nil, [log.name])], in: log.folder)
                case .isNewer: throw .configuration("the history was written by a newer version and is kept")
                }
            }
            state.withLock { $0 = State(unsaved: log == nil ? carried : HistoryRows()) }
        }
    }

    /// Everything in one record of at most half of what the file may hold.
    private func summary(of rows: inout HistoryRows) -> [UInt8] {
        let today = HistoryDay.containing(environment.now())
        var most = HistoryRows.mostRows
        rows.bound(today: today)
        while rows.encoded.count > Int(SharedLog.limit) / 2, most > 1 {
            most /= 2
            rows.bound(today: today, rows: most)
        }
        return rows.encoded
    }

    private func report(_ failure: SharedLog.Failure, _ message: Logger.Message) {
        environment.logger.debug(message, metadata: ["error": "\(failure)"])
    }
}

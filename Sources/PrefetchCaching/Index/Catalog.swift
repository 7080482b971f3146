internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization
internal import SystemPackage

/// The index of the cache, in SQLite: what is stored, in the order of use.
///
/// Stores and uses are collected in memory and written in batches. The file is opened when it is first needed, so that
/// the first read after launch does not wait. It is rebuilt from the items when it is missing, damaged, replaced from
/// outside or of another version, or when the machine crashed while it was in use. Losing it costs recency, nothing
/// else.
final class Catalog: Sendable {
    let folders: CacheFolders
    let environment: CacheEnvironment
    let reconciler: ItemReconciler
    let budget: Evictor
    let session: WriterSession
    let events: EventHub
    let history: History
    let locks = ItemLocks()
    /// Whether readers should wait before they note more.
    let hasLongBacklog = Atomic<Bool>(false)
    /// Whether this process is writing pending changes, and waits for no other one.
    let isWriting = Atomic<Bool>(false)
    let file = UnfairMutex(Opening.notYet)
    private let state = UnfairMutex(State())

    enum Opening: Sendable {
        case notYet
        case open(CatalogFile)
        case closed
    }

    /// What the file does not contain yet.
    struct State: Sendable {
        var pending = PendingChanges()
        var allowance = Allowance()
        /// Whether this process has written to the file since it was opened.
        var hasWritten = false
        /// Dead writers that have left no cached copy of anything opened.
        var settled: Set<String> = []
    }

    init(
        folders: CacheFolders, environment: CacheEnvironment, reconciler: ItemReconciler, budget: Evictor,
        session: WriterSession, events: EventHub, history: History
    ) {
        self.folders = folders
        self.environment = environment
        self.reconciler = reconciler
        self.budget = budget
        self.session = session
        self.events = events
        self.history = history
    }

    var patience: Patience { folders.patience }
    var files: any CatalogedFiles { budget.files }

    /// Reads or changes the state in memory.
    func inMemory<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { body(&$0) }
    }

    /// Writes pending changes and then runs `body`, in one transaction that no other process can interleave
    /// with.
    ///
    /// - Parameters:
    ///   - makingRoom: Whether to remove the least recently used items when the volume is too full for the
    ///     transaction. Mere accounting must not cost an item.
    ///   - committed: Changes the state in memory, together with the end of the transaction.
    /// - Throws: ``CacheError/database(name:message:)`` when the catalog could not be used even after it was
    ///   rebuilt; ``CacheError/fileSystem(_:)`` with `ENOSPC`; ``CacheError/catalogOverBudget``. Pending
    ///   changes stay pending then.
    func transaction<Result>(
        makingRoom: Bool = false, _ body: (CatalogTransaction) throws -> Result,
        committed: (Result, inout State) -> Void = { _, _ in }
    ) throws(CacheError) -> Result {
        let batch = takePending()
        var evicted: [WriteIntents.Place] = []
        // By an attempt that was committed to a file which was then replaced.
        var isCounted = false
        do {
            let result = try run(makingRoom: makingRoom) { file in
                let result = try file.transaction(boot: environment.bootIdentifier) { transaction in
                    isWriting.store(true, ordering: .relaxed)
                    defer { isWriting.store(false, ordering: .relaxed) }
                    // Those of an attempt that was rolled back.
                    noteLost(evicted)
                    evicted = []
                    defer { evicted = session.takeEvictions() }
                    guard isCurrent(file) else { throw CatalogFile.WasReplaced() }
                    try CatalogFile.requireMark(transaction)
                    let growth = try Growth(of: transaction)
                    try budget.prepare(transaction)
                    let count = transaction.changes.events.count
                    var writing = try ChangeWriting(self, to: transaction)
                    try writing.write(batch)
                    try writing.finish()
                    if isCounted { transaction.changes.forget(after: count) }
                    // `body` must find the final state, and may make room itself.
                    _ = try growth.fit(into: budget)
                    let result = try body(transaction)
                    guard try growth.fit(into: budget) else {
                        throw CacheError.catalogOverBudget
                    }
                    transaction.changes.explain(whyGone)
                    return result
                }
                isCounted = true
                try write(batch, in: file) { committed(result, &$0) }
                return result
            }
            lowerBound()
            session.end(batch.places + evicted)
            return result
        } catch {
            inMemory { state in
                let forgotten = state.pending.restore(isCounted ? batch.withoutCounts : batch)
                state.allowance.refund(forgotten)
            }
            noteLost(evicted)
            throw error
        }
    }

    /// Notes why an item has gone whose row another one takes over, if this process has stored that.
    func noteEnded(_ hash: KeyHash, because reason: Departure) {
        locks.hold(hash) { inMemory { $0.pending.ended(hash, because: reason) } }
    }

    /// Why this process has removed an item whose file was found gone, if it did: it notes that while the transaction goes on.
    private func whyGone(_ hash: KeyHash) -> Departure? {
        locks.hold(hash) { inMemory { $0.pending.departure(of: hash) } }
    }

    /// Notes that items are gone whose rows came back with a transaction that failed.
    private func noteLost(_ places: [WriteIntents.Place]) {
        guard !places.isEmpty else { return }
        let hashes = session.hashes(at: places)
        inMemory { state in
            hashes.forEach { state.pending.lost($0) }
            state.pending.places += places
        }
    }

    /// Applies what a transaction has written to the state in memory, unless the file was replaced before the
    /// transaction ended: readers of the new file would not see it.
    private func write(
        _ batch: PendingChanges, in file: CatalogFile, _ committed: (inout State) -> Void
    ) throws {
        do {
            guard try file.isInPlace(in: folders.current.root) else { throw CatalogFile.WasReplaced() }
        } catch let error as FileSystemError {
            // The current file may or may not contain what was written. It is written again, after this process's
            // allowance was re-entered.
            environment.logger.warning("The catalog cannot be inspected.", metadata: ["error": "\(error)"])
            inMemory { $0.allowance.lose() }
            throw CatalogFile.WasReplaced()
        }
        let isCurrent = inMemory { state in
            guard state.allowance.isEntered, state.allowance.generation == file.generation else {
                return false
            }
            state.allowance.noteRecorded(batch.storedBytes)
            state.hasWritten = true
            committed(&state)
            return true
        }
        guard isCurrent else { throw CatalogFile.WasReplaced() }
    }

    /// Whether this file, and no other since, contains what this process holds.
    func isCurrent(_ file: CatalogFile) -> Bool {
        inMemory { $0.allowance.isEntered && $0.allowance.generation == file.generation }
    }

    /// Makes this process a writer, which is required before it reserves anything. When the folders were recreated,
    /// grants in the old ones are forfeited: the free part is given up, and the reserved part is entered into the new
    /// catalog before anything else is granted.
    func beginWriting() throws(CacheError) {
        if !session.isWriter { history.prepare() }
        try session.begin(forfeit)
    }

    /// Lists an item that is about to be removed. A process that was a writer in folders that were recreated since is one in
    /// those that are there, where others look for its list.
    func intend(toRemove hash: KeyHash) -> WriteIntents.Place {
        session.intend(toRemove: hash, moving: forfeit)
    }

    private func forfeit() -> Int64 {
        inMemory { state in
            state.allowance.lose()
            return state.allowance.bound
        }
    }

    /// Writes a higher bound to the lock file. Must precede the commit, so that either a process that rebuilds the
    /// catalog sees the bound, or this process finds its file replaced.
    func raiseBound() throws(FileSystemError) {
        try session.write { inMemory { $0.allowance.bound } }
    }

    func lowerBound() {
        do {
            try raiseBound()
        } catch {
            // A bound above what this process holds is harmless.
            environment.logger.debug(
                "The writer's bound could not be lowered.", metadata: ["error": "\(error)"])
        }
    }

    private func takePending() -> PendingChanges {
        inMemory { state in
            defer { state.pending = PendingChanges() }
            hasLongBacklog.store(false, ordering: .relaxed)
            return state.pending
        }
    }

    /// Runs `body`, which removes the file of an item, its partial or its damaged file, and notes that with the place at which
    /// the item is listed meanwhile.
    func removing<Result>(
        _ hash: KeyHash, _ body: (WriteIntents.Place) throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        let place = intend(toRemove: hash)
        do throws(CacheError) {
            return try body(place)
        } catch {
            noteUnclear(hash, at: place)
            throw error
        }
    }

    /// Notes that something may have happened to an item's file.
    func noteUnclear(_ hash: KeyHash, at place: WriteIntents.Place) {
        inMemory { state in
            state.pending.listed(at: place)
            state.pending.lost(hash)
        }
    }

    /// Runs `body`, which only reads. Writes pending changes first, if there are any, the volume has room for them and
    /// no other process is writing.
    ///
    /// - Parameter includesPending: `false` to read without them, which costs no transaction that writes.
    func reading<Result>(
        includingPending includesPending: Bool = true, _ body: (CatalogTransaction) throws -> Result
    ) throws(CacheError) -> Result {
        if includesPending, inMemory({ !$0.pending.isEmpty }) {
            do {
                return try transaction(body)
            } catch {
                guard error.isOfUnwritableVolume || error.isBusy else { throw error }
            }
        }
        return try run(makingRoom: false, isReading: true) { file in try file.read(body) }
    }

    /// Runs `body` on the open file and, when that fails, on a new one. Repeats, since the system or another process
    /// may remove that one as well.
    private func run<Result>(
        makingRoom: Bool, isReading: Bool = false, _ body: (CatalogFile) throws -> Result
    ) throws(CacheError) -> Result {
        var hasFreed = false
        // With a new file, because there was none or it was unusable.
        var rebuilds = (0..<8).makeIterator()
        // Many, each after a pause: the system may take the next file before it is filled.
        var losses = (0..<200).makeIterator()
        func goesOnAfterLoss() -> Bool {
            guard let loss = losses.next() else { return false }
            // Short: each time it may be there for a moment.
            Patience.pause(min(loss, 10))
            return true
        }
        while true {
            var identity: FileAttributes.Identity?
            do {
                let result = try body(try openedFile(&identity, isReading: isReading))
                patience.noteSuccess()
                return result
            } catch let error as CacheError {
                throw error
            } catch is CatalogFile.WasReplaced {
                guard goesOnAfterLoss() else {
                    throw .database(name: "catalog", message: "the file is replaced again and again")
                }
            } catch let error as CatalogFile.Unusable where rebuilds.next() != nil {
                // Retried, since another process may replace the file again.
                environment.logger.info("The catalog is being rebuilt.", metadata: ["reason": "\(error)"])
                try discard(identity)
            } catch {
                if makingRoom, !hasFreed, CatalogFile.isOutOfSpace(error), try freeSpace() {
                    hasFreed = true
                } else if let error = unwritable(error) {
                    throw .fileSystem(error)
                } else if try wasLost(identity, error) {
                    guard goesOnAfterLoss() else { throw CatalogFile.wrapped(error, in: folders) }
                } else if CatalogFile.isFaultOfTheFile(error)
                    || identity == nil && CatalogFile.isAboutNames(error),
                    rebuilds.next() != nil
                {
                    // Without an identity there was no file, and none could be created.
                    environment.logger.warning(
                        "The catalog failed and is being rebuilt.", metadata: ["error": "\(error)"])
                    try discard(identity)
                } else {
                    throw CatalogFile.wrapped(error, in: folders)
                }
            }
        }
    }

    /// Removes the least recently used items without a transaction, which a full volume cannot hold.
    ///
    /// - Returns: Whether anything was removed.
    private func freeSpace() throws(CacheError) -> Bool {
        do {
            let file = try openedFile(isReading: true)
            let before = inMemory { $0.pending }
            // Together, since the next transaction may evict as well.
            let (freed, places) = try file.read {
                (try budget.unlinkLeastRecentlyUsed(from: $0), session.takeEvictions())
            }
            inMemory { state in
                for hash in freed {
                    let row = state.pending.storedRow(hash)
                    // Stored again by now, or before it was unlinked: the next look at the file tells.
                    guard row?.metadata?.storedAt == before.storedRow(hash)?.metadata?.storedAt else {
                        state.pending.lost(hash)
                        continue
                    }
                    state.refund(hash)
                    state.pending.removed(hash, because: .pressure)
                }
                state.pending.places += places
            }
            return !freed.isEmpty
        } catch {
            throw CatalogFile.wrapped(error, in: folders)
        }
    }

    /// The error of an unwritable volume, if it can be the cause of an error of SQLite.
    private func unwritable(_ error: any Error) -> FileSystemError? {
        do {
            try folders.current.root.requireWritableVolume(after: error, FilePath(CacheLayout.catalog))
            return nil
        } catch {
            return error
        }
    }

    /// Whether a file failed because it no longer exists, or was emptied.
    private func wasLost(_ identity: FileAttributes.Identity?, _ error: any Error) throws(CacheError) -> Bool
    {
        if CatalogFile.isOfLostName(error) { return true }
        guard CatalogFile.isAboutNames(error), let identity else { return false }
        guard try !folders.repair() else { return true }
        let root = folders.current.root
        let found = try onFiles(CatalogFile.attributes(in: root))
        return found?.identity != identity || found?.length == 0
    }
}

/// The changes that the rest of the engine reports. They are kept in memory until the next transaction.
extension Catalog {
    /// Notes that an item was published, or a partial is kept whose writer has ended, for which `reserved` bytes were held.
    ///
    /// - Parameter place: Where it was listed before.
    func noteStored(_ row: CatalogRow, reserved: Int64, at place: WriteIntents.Place? = nil) {
        inMemory { state in
            state.pending.listed(at: place)
            // An unrecorded file of the same key was replaced.
            state.refund(row.hash)
            state.allowance.spend(row.chargedBytes, reserved: reserved)
            state.pending.stored(row)
        }
    }

    /// Notes that an item was used.
    func noteHit(_ hash: KeyHash) {
        inMemory { state in
            let wasLong = state.pending.isLong
            state.pending.touched(hash)
            // Once: who has waited in vain does not wait again until it was taken.
            if !wasLong, state.pending.isLong { hasLongBacklog.store(true, ordering: .relaxed) }
        }
    }

    /// Notes that an item is not there. A row for it is deleted unless something newer is known.
    func noteAbsent(_ hash: KeyHash) {
        inMemory { $0.pending.absent(hash) }
    }

    /// Notes that an item was requested that is not there.
    func noteMiss(_ key: ItemKey) {
        inMemory { state in
            state.pending.absent(key.hash)
            state.pending.missed(key)
        }
    }

    /// Notes that an item was refused because it is not worth its space.
    func noteDeclined(_ newcomer: Newcomer) {
        let item = Declined(source: newcomer.source, time: environment.now())
        inMemory { $0.pending.declined(newcomer.key, item) }
    }

    /// Notes that a damaged item was moved to the quarantine, where it takes as much space as before. Without a row, it
    /// was already gone.
    func noteQuarantined(_ hash: KeyHash, _ row: CatalogRow?, at place: WriteIntents.Place) {
        guard var row else { return noteRemoved(hash, because: .damaged, at: place) }
        inMemory { state in
            state.pending.listed(at: place)
            row.isRecorded = state.pending.storedRow(hash) == nil
            // An earlier quarantined file of the same name was replaced.
            state.refund(row.hash)
            state.refund(hash)
            if !row.isRecorded { state.allowance.spend(row.chargedBytes, reserved: 0) }
            state.pending.removed(hash, because: .damaged)
            state.pending.stored(row)
        }
    }

    /// Notes that an item was opened, which makes the partial of its key useless.
    func notePromoted(_ hash: KeyHash) { inMemory { $0.pending.opened(hash) } }

    /// Notes that a kept partial is gone, or is about to be covered by its writer's allowance.
    func notePartialGone(_ hash: KeyHash, at place: WriteIntents.Place? = nil) {
        inMemory { state in
            state.pending.listed(at: place)
            state.refund(hash.ofPartial)
            state.pending.partialLost(hash.ofPartial)
        }
    }

    /// Notes that a partial is not there. A row for it is deleted unless something newer is known.
    func notePartialAbsent(_ hash: KeyHash, at place: WriteIntents.Place? = nil) {
        inMemory { state in
            state.pending.listed(at: place)
            state.pending.partialAbsent(hash.ofPartial)
        }
    }

    /// Notes that an item's file is gone, and why.
    func noteRemoved(_ hash: KeyHash, because reason: Departure, at place: WriteIntents.Place?) {
        inMemory { state in
            state.pending.listed(at: place)
            state.refund(hash)
            state.pending.removed(hash, because: reason)
        }
    }
}

extension Catalog.State {
    /// Releases the charge of a file that is gone and had no row yet.
    fileprivate mutating func refund(_ hash: KeyHash) {
        guard let old = pending.storedRow(hash), !old.isRecorded else { return }
        allowance.refund(old.chargedBytes)
    }
}

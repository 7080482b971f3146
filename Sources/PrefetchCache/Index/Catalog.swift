internal import FileSystem
internal import GRDB
internal import ItemFormat
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The index of the cache, in SQLite: what is stored, in the order of use.
///
/// Stores and uses are collected in memory and written in batches. The file is opened when it is first
/// needed, so that the first read after launch waits for nothing. It is rebuilt from the items when it is
/// missing, damaged, replaced from outside or of another version, or when the machine went down while it was
/// in use. Losing it costs recency, nothing else.
final class Catalog: Sendable {
    let folders: CacheFolders
    let environment: CacheEnvironment
    let census: ItemCensus
    let files: any CatalogedFiles
    let evictor: Evictor
    let policy: @Sendable () -> any EvictionPolicy
    let report: @Sendable (CacheEvent) -> Void
    let session: WriterSession
    let ceiling: @Sendable (Database) -> Int64?
    let file = Mutex(Opening.notYet)
    private let state = Mutex(State())

    enum Opening: Sendable {
        case notYet
        case open(CatalogFile)
        case closed
    }

    /// How often a transaction is run again because its file was replaced meanwhile.
    private static let attempts = 8

    /// What the file does not contain yet.
    struct State: Sendable {
        var pending = PendingChanges()
        var allowance = Allowance()
        /// Whether this process has written to the file since it was opened.
        var hasWritten = false
    }

    /// - Parameter ceiling: The most that all may be charged now, in bytes, or `nil` if unknown.
    init(
        folders: CacheFolders, environment: CacheEnvironment, census: ItemCensus, files: any CatalogedFiles,
        evictor: Evictor, session: WriterSession, ceiling: @escaping @Sendable (Database) -> Int64?,
        policy: @escaping @Sendable () -> any EvictionPolicy, report: @escaping @Sendable (CacheEvent) -> Void
    ) {
        self.folders = folders
        self.environment = environment
        self.census = census
        self.files = files
        self.evictor = evictor
        self.session = session
        self.ceiling = ceiling
        self.policy = policy
        self.report = report
    }

    var patience: Patience { folders.patience }

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
        makingRoom: Bool = false, _ body: (Database) throws -> Result,
        committed: (Result, inout State) -> Void = { _, _ in }
    ) throws(CacheError) -> Result {
        let batch = takePending()
        do {
            let result = try run(makingRoom: makingRoom) { file in
                let result = try file.transaction(boot: environment.bootIdentifier) { database in
                    guard isCurrent(file) else { throw CatalogFile.WasReplaced() }
                    try CatalogFile.requireMark(database)
                    let growth = try Growth(of: database)
                    try write(batch, to: database)
                    // `body` must find the final state, and may make room itself.
                    _ = try growth.fit(below: ceiling, evicting: evictor)
                    let result = try body(database)
                    guard try growth.fit(below: ceiling, evicting: evictor) else {
                        throw CacheError.catalogOverBudget
                    }
                    return result
                }
                try settle(batch, in: file) { committed(result, &$0) }
                return result
            }
            lowerBound()
            return result
        } catch {
            inMemory { state in
                let forgotten = state.pending.restore(batch)
                state.allowance.unspend(forgotten)
            }
            throw error
        }
    }

    /// Enters what a transaction has written into the state in memory, unless the file was replaced before
    /// the transaction ended: readers of the new file would not see it.
    private func settle(
        _ batch: PendingChanges, in file: CatalogFile, _ committed: (inout State) -> Void
    ) throws {
        do {
            guard try file.isInPlace(in: folders.current.root) else { throw CatalogFile.WasReplaced() }
        } catch let error as FileSystemError {
            // The catalog in place may or may not contain what was written. It is written once more, after
            // what this process holds was entered again.
            environment.logger.warning("The catalog cannot be looked at.", metadata: ["error": "\(error)"])
            inMemory { $0.allowance.lose() }
            throw CatalogFile.WasReplaced()
        }
        let isCurrent = inMemory { state in
            guard state.allowance.isEntered, state.allowance.generation == file.generation else {
                return false
            }
            state.allowance.settle(batch.storedBytes)
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

    /// Makes this process a writer, which is required before it reserves anything. When the folders were
    /// recreated, grants in the old ones are void: the free part is given up, and the reserved part is
    /// entered into the new catalog before anything else is granted.
    func beginWriting() throws(CacheError) {
        try session.begin {
            inMemory { state in
                state.allowance.lose()
                return state.allowance.bound
            }
        }
    }

    /// Enters a higher bound into the lock file. Comes before the commit, so that a process that rebuilds the
    /// catalog either sees the bound, or this process finds its file replaced.
    func raiseBound() throws(FileSystemError) {
        try session.write { inMemory { $0.allowance.bound } }
    }

    func lowerBound() {
        do {
            try raiseBound()
        } catch {
            // A bound above what this process holds does no harm.
            environment.logger.debug("The writer's bound stays.", metadata: ["error": "\(error)"])
        }
    }

    private func takePending() -> PendingChanges {
        inMemory { state in
            defer { state.pending = PendingChanges() }
            return state.pending
        }
    }

    /// Writes new pending changes within a transaction. They are lost if the transaction fails.
    func writePending(_ writing: inout ChangeWriting) throws {
        let batch = takePending()
        try writing.write(batch)
        inMemory { $0.allowance.settle(batch.storedBytes) }
    }

    /// Runs `body`, which only reads. Writes pending changes before, if there are any and nothing
    /// stands in the way: the volume has room for them, and no other process writes.
    func reading<Result>(_ body: (Database) throws -> Result) throws(CacheError) -> Result {
        if inMemory({ !$0.pending.isEmpty }) {
            do {
                return try transaction(body)
            } catch {
                guard error.isOfUnwritableVolume || error.isBusy else { throw error }
            }
        }
        return try run(makingRoom: false, isReading: true) { file in try file.queue.read(body) }
    }

    /// Runs `body` on the open file and, when that fails, on a fresh one. Repeats, since the system or
    /// another process may remove that one as well.
    private func run<Result>(
        makingRoom: Bool, isReading: Bool = false, _ body: (CatalogFile) throws -> Result
    ) throws(CacheError) -> Result {
        var hasFreed = false
        var attempts = 0
        while true {
            var identity: FileAttributes.Identity?
            do {
                let result = try body(try openedFile(&identity, isReading: isReading))
                patience.noteSuccess()
                return result
            } catch let error as CacheError {
                throw error
            } catch is CatalogFile.WasReplaced {
                attempts += 1
                guard attempts < Self.attempts else {
                    throw .database(name: "catalog", message: "the file is replaced again and again")
                }
            } catch let error as CatalogFile.Useless where attempts < Self.attempts {
                // Repeated, since another process may put such a file there again.
                attempts += 1
                environment.logger.info("The catalog is made anew.", metadata: ["reason": "\(error)"])
                try discard(identity)
            } catch {
                if makingRoom, !hasFreed, Self.isOutOfSpace(error), try freeSpace() {
                    hasFreed = true
                } else if let error = unwritable(error) {
                    throw .fileSystem(error)
                } else if attempts < Self.attempts, Self.isFaultOfTheFile(error) {
                    attempts += 1
                    environment.logger.warning(
                        "The catalog failed and is made anew.", metadata: ["error": "\(error)"])
                    try discard(identity)
                } else if attempts < Self.attempts, Self.isAboutNames(error), try wasLost(identity) {
                    attempts += 1
                } else {
                    throw wrapped(error)
                }
            }
        }
    }

    /// Removes the least recently used items without a transaction, for which a full volume has no room.
    ///
    /// - Returns: Whether anything was removed.
    private func freeSpace() throws(CacheError) -> Bool {
        do {
            let file = try openedFile(isReading: true)
            let freed = try file.queue.read { try evictor.unlinkColdest(from: $0) }
            inMemory { state in
                state.pending.count(.evictions, by: Int64(freed.items))
                state.pending.count(.evictedBytes, by: freed.bytes)
            }
            return freed.items > 0
        } catch {
            throw wrapped(error)
        }
    }

    /// The error of a volume that takes no writes, if it can be the cause of an error of SQLite.
    private func unwritable(_ error: any Error) -> FileSystemError? {
        do {
            try folders.current.root.requireWritableVolume(after: error, FilePath(CacheLayout.catalog))
            return nil
        } catch {
            return error
        }
    }

    /// Whether an error may be due to a volume that is full or takes no writes.
    static func isAboutWriting(_ error: any Error) -> Bool {
        isOutOfSpace(error) || (error as? DatabaseError)?.resultCode == .SQLITE_READONLY
    }

    static func isOutOfSpace(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_FULL
    }

    /// Whether the file itself is at fault, rather than the request, the process or the volume. All
    /// processes then lose it.
    static func isFaultOfTheFile(_ error: any Error) -> Bool {
        if error is UnreadableValue || error is RowDecodingError { return true }
        guard let error = error as? DatabaseError else { return false }
        // The last is an `EIO` while reading.
        return [
            .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_READONLY, .SQLITE_ERROR, .SQLITE_SCHEMA,
        ].contains(error.resultCode) || error.extendedResultCode == .SQLITE_IOERR_CORRUPTFS
    }

    /// Whether an error may be due to a file or a folder that was removed or replaced.
    private static func isAboutNames(_ error: any Error) -> Bool {
        if let error = error as? FileSystemError, error.errno == .staleNFSFileHandle { return true }
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode)
    }

    /// Whether a file no longer exists, or was emptied.
    ///
    /// - Parameter identity: The identity of the file that failed; `nil` when there was none and one was to
    ///   be created.
    private func wasLost(_ identity: FileAttributes.Identity?) throws(CacheError) -> Bool {
        guard let identity, try !folders.repair() else { return true }
        let root = folders.current.root
        let found = try onFiles { () throws(FileSystemError) in try CatalogFile.attributes(in: root) }
        return found?.identity != identity || found?.length == 0
    }

    func wrapped(_ error: any Error) -> CacheError { Self.wrapped(error, in: folders) }

    static func wrapped(_ error: any Error, in folders: CacheFolders) -> CacheError {
        switch error {
        case let error as CacheError: error
        case let error as FileSystemError: .fileSystem(error)
        case let error where isOutOfSpace(error):
            .fileSystem(FileSystemError("write", path: FilePath(CacheLayout.catalog), errno: .noSpace))
        case let error as DatabaseError where error.isBusy:
            .busy("catalog", [FilePath(CacheLayout.catalog)], in: folders.current.root)
        default: .database(name: "catalog", message: "\(error)")
        }
    }
}

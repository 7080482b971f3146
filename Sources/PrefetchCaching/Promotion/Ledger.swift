internal import Foundation
internal import GRDB
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

/// The durable record of promotions: which key was promoted, to which file.
///
/// It uses a write-ahead log and full synchronisation: a change that returned survives a power cut, at the cost of one
/// flush, unless its caller does without. The log is copied into the file after a second without activity. The ledger is created with the first
/// promotion. Losing it means that items may be promoted again, but never loses promoted bytes.
///
/// Opening, changing and closing it require the lock of its folder. Readers never wait for that lock: while SQLite
/// cannot open the files, they read the bytes of file and log directly.
final class Ledger: PromotionLedger {
    private let folder: Directory
    private let path: FilePath
    private let patience: Patience
    private let open = UnfairMutex<OpenFile?>(nil)
    /// Serializes the threads that change it, since the lock of the folder has no queue. Nothing that readers need is
    /// held while waiting for that lock.
    private let turns = UnfairMutex(())
    private let isLogWritten = Atomic<Bool>(false)
    /// Whether a log existed at the last check.
    private let hasLog = Atomic<Bool>(false)

    private struct OpenFile: Sendable {
        let queue: DatabaseQueue
        let log: LedgerLog
        let identity: FileAttributes.Identity?
        /// The state of the files when they were read into memory; `nil` when SQLite has them open.
        var image: LedgerFingerprint?
    }

    init(in folder: Directory, at path: FilePath, _ patience: Patience = Patience()) {
        self.folder = folder
        self.patience = patience
        self.path = path.appending(CacheLayout.ledger)
    }

    func fingerprint() throws(CacheError) -> LedgerFingerprint? {
        // One system call if there was a log before or there is no ledger: every store asks twice.
        if hasLog.load(ordering: .relaxed), let log = try attributes(of: CacheLayout.ledgerLog) {
            return LedgerFingerprint(file: log)
        }
        guard let file = try attributes() else { return nil }
        let log = try attributes(of: CacheLayout.ledgerLog)
        hasLog.store(log != nil, ordering: .relaxed)
        return LedgerFingerprint(file: log ?? file)
    }

    private func attributes(of name: String = CacheLayout.ledger) throws(CacheError) -> FileAttributes? {
        try onFiles(folder.fileSystem.attributes(of: FilePath(name), in: folder.descriptor))
    }

    func entry(for hash: KeyHash) throws(CacheError) -> LedgerEntry? {
        try read { database in try LedgerEntry.fetch(hash, from: database) } ?? nil
    }

    func unfinished() throws(CacheError) -> [LedgerEntry] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: LedgerEntry.select + " WHERE state = ? OR successor IS NOT NULL ORDER BY openedAt",
                arguments: [LedgerEntry.State.intent.rawValue]
            ).compactMap(LedgerEntry.init)
        } ?? []
    }

    func hashes() throws(CacheError) -> Set<KeyHash> {
        try read { database in
            try Set(Data.fetchAll(database, sql: "SELECT hash FROM promotion").compactMap(KeyHash.init))
        } ?? []
    }

    func committed(after hash: KeyHash?, atMost limit: Int) throws(CacheError) -> [LedgerEntry] {
        try read { database in
            var entries: [LedgerEntry] = []
            var last = hash?.data ?? Data()
            // An invalid row is skipped, and must not end the iteration.
            while entries.isEmpty {
                let rows = try Row.fetchAll(
                    database,
                    sql: LedgerEntry.select + " WHERE state = ? AND hash > ? ORDER BY hash LIMIT ?",
                    arguments: [LedgerEntry.State.committed.rawValue, last, limit])
                guard let next = try rows.last?.value(0, as: Data.self) else { break }
                entries = rows.compactMap(LedgerEntry.init)
                last = next
            }
            return entries
        } ?? []
    }

    func others(sharing entry: LedgerEntry) throws(CacheError) -> [LedgerEntry] {
        try read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: LedgerEntry.select
                        + " WHERE hash <> ?"
                        + " AND (contentChecksum = ? AND contentLength = ?"
                        + " OR name = ? COLLATE NOCASE AND folder = ? COLLATE NOCASE AND area = ?"
                        + " OR \(LedgerEntry.enclosure))"),
                arguments: [
                    entry.key.hash.data, Int64(bitPattern: entry.contentChecksum), entry.contentBytes,
                    entry.name.string, entry.folder?.string ?? "", Int(entry.area.rawValue),
                    Int(entry.area.rawValue), (entry.folder?.string ?? "") + "/",
                ]
            ).compactMap(LedgerEntry.init)
        } ?? []
    }

    func isPlaceOfAnother(_ entry: LedgerEntry) throws(CacheError) -> Bool {
        try read { database in
            let found = try Int.fetchOne(
                database.cachedStatement(sql: LedgerEntry.placeOfAnother),
                arguments: StatementArguments(entry.place))
            return found != nil
        } ?? false
    }

    func make(_ changes: [LedgerChange], flushing: Bool) throws(CacheError) -> Set<KeyHash> {
        var displaced: Set<KeyHash> = []
        // Even after an error something may have been written.
        isLogWritten.store(true, ordering: .relaxed)
        try write(creating: changes.contains { $0.new != nil }) { database, log in
            try log.lengthen()
            try log.setFlushing(flushing, in: database)
            if let change = changes.first, changes.count == 1 {
                // A single statement is its own transaction.
                try Self.make(change, in: database, &displaced)
            } else {
                try database.inTransaction(.immediate) {
                    for change in changes { try Self.make(change, in: database, &displaced) }
                    return .commit
                }
            }
            log.noteEntered(changes.count, in: database)
        }
        return displaced
    }

    private static func make(
        _ change: LedgerChange, in database: Database, _ displaced: inout Set<KeyHash>
    ) throws {
        guard let key = (change.new ?? change.old)?.key else { return }
        guard let isAnothers = try change.make(in: database) else { throw CacheError.overtaken(key) }
        if isAnothers { displaced.insert(key.hash) }
    }

    var needsCheckpoint: Bool { isLogWritten.load(ordering: .relaxed) }

    func checkpoint() throws(CacheError) {
        guard isLogWritten.exchange(false, ordering: .relaxed) else { return }
        do throws(CacheError) {
            try write(creating: false) { database, log in try log.copy(in: database) }
        } catch {
            isLogWritten.store(true, ordering: .relaxed)
            throw error
        }
    }

    func close() throws(CacheError) {
        let last = open.withLock { open in
            defer { open = nil }
            return open
        }
        guard let last else { return }
        // The last connection to close copies the log. Without the lock this is not the last one, or SQLite itself
        // excludes all others while copying.
        var lock: Descriptor?
        defer { if let lock { folder.fileSystem.unlock(lock) } }
        do {
            lock = try folder.takeLock(nil, for: "ledger")
        } catch {
            lock = nil
        }
        do {
            try last.queue.close()
        } catch {
            throw .database(name: "ledger", message: "\(error)")
        }
    }

    /// Reads without waiting for another process: while one holds a lock, from the bytes of the files. These are not
    /// kept, since the files may change without a new time stamp. Only while the ledger is being made, when the bytes are
    /// unusable, does it wait for the process.
    ///
    /// - Returns: `nil` when there is no ledger yet.
    private func read<Result>(_ body: (Database) throws -> Result) throws(CacheError) -> Result? {
        guard let identity = try attributes()?.identity else { return nil }
        return try wrappingErrors {
            var busy: (any Error)?
            while busy == nil, !patience.isStalled {
                do {
                    // One statement reads a consistent state; a transaction around it would take three more.
                    return try opened(identity, isReading: true).queue.unsafeRead(body)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                    // Another thread has closed it meanwhile, as what it had read was no longer current.
                    continue
                } catch let error as CacheError where error.isBusy {
                    busy = error
                } catch let error as DatabaseError where error.isBusy {
                    busy = error
                    if error.resultCode == .SQLITE_PROTOCOL { patience.noteStall() }
                }
            }
            do {
                let image = try LedgerImage.open(in: folder, at: path.removingLastComponent())
                return try image.unsafeRead(body)
            } catch let error as LedgerImage.Unavailable {
                guard busy != nil else { throw error }
                // Another process is making the ledger right now, which is quick, or has died doing so.
                let lock = try folder.takeLock(patience, for: "ledger")
                defer { folder.fileSystem.unlock(lock) }
                let now = try attributes()?.identity
                return try opened(now, isReading: false).queue.unsafeRead(body)
            }
        }
    }

    /// Runs `body` while nothing else changes the ledger.
    private func write(
        creating: Bool, _ body: (Database, LedgerLog) throws -> Void
    ) throws(CacheError) {
        try turns.withLock { _ throws(CacheError) in
            if patience.isStalled { throw .busy("ledger", Self.files, in: folder) }
            try wrappingErrors {
                let lock = try folder.takeLock(patience, for: "ledger")
                defer { folder.fileSystem.unlock(lock) }
                let identity = try attributes()?.identity
                guard creating || identity != nil else { return }
                let file = try opened(identity, isReading: false)
                try file.queue.writeWithoutTransaction { database in
                    try explainingErrors(of: database) { try body(database, file.log) }
                }
                // Not earlier: SQLite may have waited, too.
                patience.noteSuccess()
            }
        }
    }

    private func wrappingErrors<Result>(_ body: () throws -> Result) throws(CacheError) -> Result {
        do {
            return try body()
        } catch let error as CacheError {
            throw error
        } catch let error as FileSystemError {
            throw .fileSystem(error)
        } catch let error as DatabaseError where error.isBusy {
            if error.resultCode == .SQLITE_PROTOCOL { patience.noteStall() }
            throw .busy("ledger", Self.files, in: folder)
        } catch {
            try onFiles { () throws(FileSystemError) in try path.requireReadable(after: error) }
            throw .database(name: "ledger", message: "\(error)")
        }
    }

    /// - Throws: `ENOSPC` or `EROFS` in place of an error of SQLite that is due to it.
    private func explainingErrors<Result>(
        of database: Database, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            if error.isOutOfSpace(in: database) {
                throw FileSystemError("write", path: path, errno: .noSpace)
            }
            try folder.requireWritableVolume(after: error, path)
            if error.resultCode == .SQLITE_CANTOPEN { try requireRoomForFile() }
            throw error
        }
    }

    /// SQLite does not report why it cannot create the index of the log: it retries by opening an existing one, and
    /// reports that error instead.
    private func requireRoomForFile() throws(FileSystemError) {
        let name = CacheLayout.nonexistent
        try folder.fileSystem.withFile(
            name, in: folder.descriptor, .createIfMissing(CacheLayout.filePermissions)
        ) { _ in }
        do {
            try folder.fileSystem.unlink(name, in: folder.descriptor)
        } catch {
            guard error.isNotFound else { throw error }
        }
    }

    /// - Parameters:
    ///   - identity: The current identity of the file in place.
    ///   - isReading: Whether the caller neither holds the lock of the folder nor waits for it.
    /// - Throws: ``CacheError/busy(_:by:)`` when the file has to be opened for reading while the lock is taken.
    private func opened(_ identity: FileAttributes.Identity?, isReading: Bool) throws -> OpenFile {
        try open.withLock { open in
            // A ledger that was removed or replaced under an open handle is no longer written to. Of two threads that
            // find none open, neither must close the other's.
            if let open, try open.identity == identity || open.identity == attributes()?.identity,
                try open.image == nil || isReading && open.image == fingerprint()
            {
                return open
            }
            let lock = isReading ? try folder.takeLock(nil, for: "ledger") : nil
            defer { if let lock { folder.fileSystem.unlock(lock) } }
            // Closed first: the last connection to close a file removes its log.
            try open?.queue.close()
            open = nil
            let fresh = try openFile(isReading: isReading)
            open = fresh
            return fresh
        }
    }

    /// Has SQLite open the files or, for reading on a full or read-only volume, reads them into memory. To be called
    /// under the lock: while one connection rebuilds the index of the log, SQLite lets others that open the files retry
    /// for up to 10 seconds.
    private func openFile(isReading: Bool) throws -> OpenFile {
        let folderPath = path.removingLastComponent()
        do {
            if isReading { try folder.requireWritableVolume() }
            try folder.requireDatabasePlace(CacheLayout.ledger, at: folderPath)
            let queue = try openQueue()
            let log = try queue.unsafeRead { try LedgerLog(of: $0, in: folder) }
            return OpenFile(queue: queue, log: log, identity: try attributes()?.identity)
        } catch {
            // Taken before reading, so that a change in between is read again.
            guard isReading, Self.isAboutWriting(error), let fingerprint = try fingerprint() else {
                throw error
            }
            let queue = try LedgerImage.open(in: folder, at: folderPath)
            let log = try queue.unsafeRead { try LedgerLog(of: $0, in: folder) }
            return OpenFile(queue: queue, log: log, identity: fingerprint.file.identity, image: fingerprint)
        }
    }

    /// Anything else is reported, even if the bytes could be read.
    private static func isAboutWriting(_ error: any Error) -> Bool {
        if let error = error as? FileSystemError { return error.isOutOfSpace || error.isReadOnlyVolume }
        return (error as? DatabaseError)?.resultCode == .SQLITE_READONLY
    }

    private static let files = ([""] + CacheLayout.databaseSides).map { FilePath(CacheLayout.ledger + $0) }

    private func openQueue() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "PrefetchCache.ledger"
        configuration.busyMode = .callback(patience.busyCallback())
        // The queue keeps this: a ledger that it kept in turn would stay open if nobody closed it.
        configuration.prepareDatabase { [weak self] database in
            guard let self else { return }
            // A new file starts with a rollback journal, whose deletion EXTRA synchronises as well: if the
            // journal reappeared after a power cut, it would empty the file. On a file system without shared
            // memory for a log, the journal stays in use.
            try explainingErrors(of: database) {
                try LedgerSchema.isMissing(in: database)
                try database.execute(
                    sql: """
                        PRAGMA synchronous = EXTRA;
                        PRAGMA fullfsync = ON;
                        PRAGMA checkpoint_fullfsync = ON;
                        PRAGMA journal_mode = WAL;
                        PRAGMA wal_autocheckpoint = 0;
                        """)
            }
        }
        let queue = try DatabaseQueue(
            path: folder.databasePath(CacheLayout.ledger, at: path.removingLastComponent()),
            configuration: configuration
        ).disposable
        try queue.writeWithoutTransaction { database in
            try explainingErrors(of: database) { try LedgerSchema.create(in: database) }
        }
        return queue
    }
}

internal import FileSystem
internal import GRDB
internal import ItemFormat
internal import StorageAreas
internal import Synchronization
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The durable record of promotions: which key was handed over, to which file.
///
/// It uses a write-ahead log and full synchronisation: a commit that returned survives a power cut, at the
/// cost of one flush. The log is copied into the file after a second without activity. The ledger is created
/// with the first promotion. Losing it means that items may be handed over again, but never loses promoted
/// bytes.
final class Ledger: PromotionLedger {
    private let folder: Directory
    private let path: FilePath
    private let patience: Patience
    private let open = Mutex<OpenFile?>(nil)
    private let isLogWritten = Atomic<Bool>(false)

    private struct OpenFile: Sendable {
        let queue: DatabaseQueue
        let log: LedgerLog
        let identity: FileAttributes.Identity?
    }

    init(in folder: Directory, at path: FilePath, _ patience: Patience = Patience()) {
        self.folder = folder
        self.patience = patience
        self.path = path.appending(CacheLayout.ledger)
    }

    func fingerprint() throws(CacheError) -> LedgerFingerprint? {
        guard let file = try attributes() else { return nil }
        return LedgerFingerprint(file: file, log: try attributes(of: CacheLayout.ledgerLog))
    }

    private func attributes(of name: String = CacheLayout.ledger) throws(CacheError) -> FileAttributes? {
        try onFiles { () throws(FileSystemError) in
            try folder.fileSystem.attributes(of: FilePath(name), in: folder.descriptor)
        }
    }

    func entry(for key: ItemKey) throws(CacheError) -> LedgerEntry? {
        try read { database in
            let rows = try Row.fetchAll(
                database.cachedStatement(sql: LedgerEntry.select + " WHERE hash = ?"),
                arguments: [key.hash.data])
            return rows.lazy.compactMap(LedgerEntry.init).first { $0.key == key }
        } ?? nil
    }

    func intents() throws(CacheError) -> [LedgerEntry] { try entries(.intent) }

    private func entries(_ state: LedgerEntry.State) throws(CacheError) -> [LedgerEntry] {
        try read { database in
            try Row.fetchAll(
                database, sql: LedgerEntry.select + " WHERE state = ? ORDER BY openedAt",
                arguments: [state.rawValue]
            ).compactMap(LedgerEntry.init)
        } ?? []
    }

    func committedHashes() throws(CacheError) -> Set<KeyHash> {
        try read { database in
            try Set(
                Data.fetchAll(
                    database, sql: "SELECT hash FROM promotion WHERE state = ?",
                    arguments: [LedgerEntry.State.committed.rawValue]
                ).compactMap(KeyHash.init))
        } ?? []
    }

    func committed(after hash: KeyHash?, atMost limit: Int) throws(CacheError) -> [LedgerEntry] {
        try read { database in
            var entries: [LedgerEntry] = []
            var last = hash?.data ?? Data()
            // A row that this code could not have written is skipped, and must not end the walk.
            while entries.isEmpty {
                let rows = try Row.fetchAll(
                    database,
                    sql: LedgerEntry.select + " WHERE state = ? AND hash > ? ORDER BY hash LIMIT ?",
                    arguments: [LedgerEntry.State.committed.rawValue, last, limit])
                guard let next = try rows.last?.value(14, as: Data.self) else { break }
                entries = rows.compactMap(LedgerEntry.init)
                last = next
            }
            return entries
        } ?? []
    }

    func isShared(_ entry: LedgerEntry) throws(CacheError) -> Bool {
        try read { database in
            try Bool.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT EXISTS (
                            SELECT 1 FROM promotion
                            WHERE name = ? AND area = ? AND folder = ? AND hash <> ?)
                        """),
                arguments: [
                    entry.name.string, Int(entry.area.rawValue), entry.folder?.string ?? "",
                    entry.key.hash.data,
                ])
        } == true
    }

    func put(_ entries: [LedgerEntry]) throws(CacheError) {
        // In any case: even after an error something may have been entered.
        isLogWritten.store(true, ordering: .relaxed)
        try write(creating: true) { database, log in
            try log.lengthen()
            if let entry = entries.first, entries.count == 1 {
                // A single statement is its own transaction.
                try entry.write(to: database)
            } else {
                try database.inTransaction(.immediate) {
                    for entry in entries { try entry.write(to: database) }
                    return .commit
                }
            }
            log.noteEntered(entries.count, in: database)
        }
    }

    func remove(_ key: ItemKey) throws(CacheError) {
        try write(creating: false) { database, _ in
            try database.execute(
                sql: "DELETE FROM promotion WHERE hash = ?", arguments: [key.hash.data])
        }
        isLogWritten.store(true, ordering: .relaxed)
    }

    var isUntidy: Bool { isLogWritten.load(ordering: .relaxed) }

    func tidy() throws(CacheError) {
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
        do {
            try last?.queue.close()
        } catch {
            throw .database(name: "ledger", message: "\(error)")
        }
    }

    /// - Returns: `nil` when there is no ledger yet.
    private func read<Result>(_ body: (Database) throws -> Result) throws(CacheError) -> Result? {
        // One statement reads a consistent state; a transaction around it would take three more.
        try run(creating: false) { file in try file.queue.unsafeRead(body) }
    }

    /// Runs `body` while nothing else changes the ledger.
    private func write(
        creating: Bool, _ body: (Database, LedgerLog) throws -> Void
    ) throws(CacheError) {
        try run(creating: creating) { file in
            try file.queue.writeWithoutTransaction { database in
                do {
                    try file.log.hold { try body(database, file.log) }
                } catch let error as DatabaseError where error.isOutOfSpace(in: database) {
                    throw FileSystemError("write", path: path, errno: .noSpace)
                }
            }
        }
    }

    @discardableResult
    private func run<Result>(
        creating: Bool, _ body: (OpenFile) throws -> Result
    ) throws(CacheError) -> Result? {
        let identity = try attributes()?.identity
        guard creating || identity != nil else { return nil }
        do {
            let result = try body(try opened(identity))
            patience.noteSuccess()
            return result
        } catch let error as CacheError {
            throw error
        } catch let error as FileSystemError {
            throw .fileSystem(error)
        } catch let error as DatabaseError where error.isBusy {
            throw .busy(
                "ledger", ([""] + CacheLayout.databaseSides).map { FilePath(CacheLayout.ledger + $0) },
                in: folder)
        } catch {
            throw .database(name: "ledger", message: "\(error)")
        }
    }

    /// - Parameter identity: The identity of the file in place, as seen just now.
    private func opened(_ identity: FileAttributes.Identity?) throws -> OpenFile {
        try open.withLock { open in
            // A ledger that was removed or replaced under an open handle is no longer written to. Two threads
            // that find none at the same time must not close each other's.
            if let open, try open.identity == identity || open.identity == attributes()?.identity {
                return open
            }
            // Closed first: the last connection to close a file removes its log.
            try open?.queue.close()
            open = nil
            let log = LedgerLog(in: folder, patience)
            // Under the lock: for others who open it while one restores the index of the log, SQLite has no better
            // answer than to try for 10 seconds.
            let queue = try log.hold {
                try folder.requireDatabasePlace(CacheLayout.ledger, at: path.removingLastComponent())
                return try Self.open(path, log)
            }
            let fresh = OpenFile(queue: queue, log: log, identity: try attributes()?.identity)
            open = fresh
            return fresh
        }
    }

    /// To be called under the lock.
    private static func open(_ path: FilePath, _ log: LedgerLog) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "PrefetchCache.ledger"
        configuration.busyMode = log.patience.busyMode
        configuration.prepareDatabase { database in
            // A new file starts with a rollback journal, whose deletion EXTRA synchronises as well: if the
            // journal reappeared after a power cut, it would empty the file. On a file system without shared
            // memory for a log, the journal stays in use.
            try LedgerSchema.refuseNewer(database)
            try database.execute(
                sql: """
                    PRAGMA synchronous = EXTRA;
                    PRAGMA fullfsync = ON;
                    PRAGMA checkpoint_fullfsync = ON;
                    PRAGMA journal_mode = WAL;
                    PRAGMA wal_autocheckpoint = 0;
                    """)
        }
        let queue = try DatabaseQueue(path: path.string, configuration: configuration)
        try queue.writeWithoutTransaction { database in
            try LedgerSchema.bringUpToDate(database)
        }
        return queue
    }
}

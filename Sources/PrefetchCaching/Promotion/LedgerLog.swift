internal import GRDB
internal import GRDBSQLite
internal import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

/// The write-ahead log of the ledger: which process may change it, how long it is, and when it is restarted.
///
/// *One at a time.* Up to version 3.51.2 SQLite can lose a commit that restarts the log while another connection
/// checkpoints it (sqlite.org/wal.html#walresetbug). So the lock of the folder is held during every commit and
/// checkpoint, across threads and processes.
///
/// *Longer than needed.* Flushing a file that is overwritten takes half the time of flushing one that grows.
/// So the log is extended to its final length at once, and restarted when that is used up.
final class LedgerLog: Sendable {
    /// After this many entries the log is copied into the ledger, and the next entry restarts it.
    private static let entries = 48
    /// Bytes of 160 pages of 4 KiB with 24 bytes of header each. An entry changes one page of the table, when it is committed
    /// one of the index of places as well, and occasionally one more.
    private static let length: Int64 = 160 * (4096 + 24) + 32

    /// Available bytes below which the log grows only as needed: an item that is opened needs the space more.
    private static let ample: Int64 = 64 << 20

    private let folder: Directory
    private let isLong = Atomic<Bool>(false)
    private let entered = Atomic<Int>(0)

    /// Whether commits are flushed one by one now.
    private let isFlushing = Atomic<Bool>(true)
    /// On a file system without shared memory for a log there is none.
    private let isInUse: Bool

    init(of database: Database, in folder: Directory) throws {
        self.folder = folder
        isInUse = try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
    }

    /// Chooses whether the next commit is flushed. To be called under the lock, outside a transaction. Without a log
    /// every commit is: an old journal could otherwise undo more than the last one.
    func setFlushing(_ flushing: Bool, in database: Database) throws {
        guard isInUse, isFlushing.load(ordering: .relaxed) != flushing else { return }
        // Takes effect when it is compiled, so it cannot be a cached statement; twice for every promotion, so it does without
        // GRDB's preparations.
        let statement = "PRAGMA synchronous = \(flushing ? "EXTRA" : "NORMAL")"
        let code = sqlite3_exec(database.sqliteConnection, statement, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        isFlushing.store(flushing, ordering: .relaxed)
    }

    /// Extends the log to its final length. To be called under the lock, so that nothing is appended concurrently; the
    /// next commit flushes the bytes.
    ///
    /// SQLite ignores what follows the last commit.
    func lengthen() throws(FileSystemError) {
        guard !isLong.exchange(true, ordering: .relaxed) else { return }
        let fileSystem = folder.fileSystem
        let name = FilePath(CacheLayout.ledgerLog)
        // On a file system without shared memory for a log there is none.
        guard let found = try fileSystem.attributes(of: name, in: folder.descriptor),
            found.length < Self.length, hasAmpleRoom
        else { return }
        try fileSystem.withFile(name, in: folder.descriptor, .readWrite) { log throws(FileSystemError) in
            do throws(FileSystemError) {
                try fileSystem.writeAll(
                    [UInt8](repeating: 0, count: Int(Self.length - found.length)), to: log, at: found.length)
            } catch {
                // Possibly the user's quota.
                guard error.isOutOfSpace else { throw error }
                try fileSystem.resize(log, to: found.length)
            }
        }
    }

    private var hasAmpleRoom: Bool {
        do {
            return try folder.fileSystem.volume(of: folder.descriptor).available >= Self.ample
        } catch {
            // A volume that cannot be measured counts as full.
            return false
        }
    }

    /// Copies the log into the ledger when it is long, so that the next commit restarts it. To be called
    /// under the lock.
    func noteEntered(_ count: Int, in database: Database) {
        guard entered.add(count, ordering: .relaxed).newValue >= Self.entries else { return }
        do {
            try copy(in: database)
        } catch {
            // The entries are already durable. ``Ledger/checkpoint()`` tries again, and throws.
        }
    }

    /// Copies the log into the ledger, except what is still being read. To be called under the lock.
    func copy(in database: Database) throws {
        entered.store(0, ordering: .relaxed)
        try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
    }
}

internal import GRDB
internal import GRDBSQLite
internal import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

/// The write-ahead log of the record: which process may change it, how long it is, and when it is restarted.
///
/// *One at a time.* Up to version 3.51.2 SQLite can lose a commit that restarts the log while another connection
/// checkpoints it (sqlite.org/wal.html#walresetbug). So the lock of the folder is held during every commit and
/// checkpoint, across threads and processes.
///
/// *Longer than needed.* Flushing a file that is overwritten takes half the time of flushing one that grows.
/// So log and file are extended to their final length at once, and the log is restarted when that is used up.
final class RecordLog: Sendable {
    /// Pages of 4 KiB. A promotion changes one page of its table, when it is committed one of the index of places as well, and
    /// occasionally one more.
    private static let pages: Int64 = 160
    /// Bytes of that many pages with 24 bytes of header each.
    private static let length = pages * (4096 + 24) + 32
    /// Bytes that the file has from the beginning, if there is ample room: what is counted, which is bounded, and some thousand
    /// promotions. What is entered on a full volume needs no more room then, and what is counted takes none that was
    /// promised to items.
    private static let fileLength: CInt = 2 << 20
    /// After so many pages of this process the log is copied into the file, and the next commit restarts it. Most commits fit
    /// into the rest.
    private static let full = pages - 16

    /// Available bytes below which the log grows only as needed: an item that is opened needs the space more.
    private static let ample: Int64 = 64 << 20

    private let folder: Directory
    private let isLong = Atomic<Bool>(false)
    /// Whether commits are flushed one by one now.
    private let isFlushing = Atomic<Bool>(true)
    /// On a file system without shared memory for a log there is none.
    private let isInUse: Bool

    init(of database: Database, in folder: Directory) throws {
        self.folder = folder
        isInUse = try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
        guard isInUse else { return }
        let file = try folder.fileSystem.attributes(of: FilePath(CacheLayout.record), in: folder.descriptor)
        let isLong = file?.length ?? 0 >= Int64(Self.fileLength)
        guard isLong || hasAmpleRoom else { return }
        var length = Self.fileLength
        // A hint: it is only obeyed when the file is next made longer or shorter.
        sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_CHUNK_SIZE, &length)
        if !isLong { copyIfPossible(in: database) }
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
        let name = FilePath(CacheLayout.recordLog)
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

    /// A volume that cannot be measured counts as full.
    private var hasAmpleRoom: Bool { folder.available ?? 0 >= Self.ample }

    /// Copies the log into the file when it is long, so that the next commit restarts it. To be called
    /// under the lock, after a commit.
    func noteWritten(in database: Database) {
        guard isInUse, Self.pagesWritten(in: database) >= Self.full else { return }
        copyIfPossible(in: database)
    }

    private func copyIfPossible(in database: Database) {
        do {
            try copy(in: database)
        } catch {
            // What was committed stays in the log. ``Record/checkpoint()`` tries again, and throws.
        }
    }

    /// Copies the log into the file, except what is still being read. To be called under the lock.
    func copy(in database: Database) throws {
        Self.pagesWritten(in: database, isReset: true)
        try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
    }

    /// The pages that this connection has written to the log since they were counted from 0.
    @discardableResult
    private static func pagesWritten(in database: Database, isReset: Bool = false) -> Int64 {
        var (pages, highest): (CInt, CInt) = (0, 0)
        // Cannot fail for a counter that exists.
        sqlite3_db_status(
            database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, isReset ? 1 : 0)
        return Int64(pages)
    }
}

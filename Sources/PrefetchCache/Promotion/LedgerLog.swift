internal import FileSystem
internal import GRDB
internal import Synchronization
internal import SystemPackage

/// The write-ahead log of the ledger: who may change it, how long it is, and when it begins anew.
///
/// *One at a time.* Up to version 3.51.2 SQLite can lose a commit that begins the log anew while another
/// connection looks for what is to be copied out of it (sqlite.org/wal.html#walresetbug). So whoever commits
/// or copies holds a lock of ours meanwhile, across threads and processes.
///
/// *Longer than needed.* The flush of a file that is overwritten takes half the time of one that grows. So
/// the log is made as long as it will get, and begins anew when that is used up.
final class LedgerLog: Sendable {
    /// After so many entries the log is copied into the ledger, and the next one begins it anew.
    private static let entries = 48
    /// Bytes of 128 pages of 4 KiB, each with 24 bytes of its own. An entry changes two, one of the table and
    /// one of the index, and now and then one more.
    private static let length: Int64 = 128 * (4096 + 24) + 32

    /// Bytes. Where less is available the log grows as it has to: an item that is opened needs the room more.
    private static let ample: Int64 = 64 << 20

    private let folder: Directory
    private let isLong = Atomic<Bool>(false)
    private let entered = Atomic<Int>(0)

    init(in folder: Directory) {
        self.folder = folder
    }

    /// Runs `body` while nobody else commits or copies, waiting for it.
    func hold<Result>(_ body: () throws -> Result) throws -> Result {
        let lock = try folder.takeLock()
        defer { folder.fileSystem.unlock(lock) }
        return try body()
    }

    /// Makes the log as long as it will get. To be called under the lock, under which nobody appends; the
    /// next commit flushes the bytes.
    ///
    /// What is behind the last commit means nothing to SQLite.
    func lengthen() throws(FileSystemError) {
        guard !isLong.exchange(true, ordering: .relaxed) else { return }
        let fileSystem = folder.fileSystem
        let name = FilePath(CacheLayout.ledgerLog)
        // Where the file system has no shared memory for a log there is none.
        guard let found = try fileSystem.attributes(of: name, in: folder.descriptor),
            found.length < Self.length, hasAmpleRoom
        else { return }
        try fileSystem.withFile(name, in: folder.descriptor, .readWrite) { log throws(FileSystemError) in
            do throws(FileSystemError) {
                try fileSystem.writeAll(
                    [UInt8](repeating: 0, count: Int(Self.length - found.length)), to: log, at: found.length)
            } catch {
                // The user's quota, perhaps.
                guard error.isOutOfSpace else { throw error }
                try fileSystem.resize(log, to: found.length)
            }
        }
    }

    private var hasAmpleRoom: Bool {
        do {
            return try folder.fileSystem.volume(of: folder.descriptor).available >= Self.ample
        } catch {
            // A volume that does not tell has none to spare.
            return false
        }
    }

    /// Copies the log into the ledger when it is long, so that the next commit begins it anew. To be called
    /// under the lock.
    func noteEntered(_ count: Int, in database: Database) {
        guard entered.add(count, ordering: .relaxed).newValue >= Self.entries else { return }
        do {
            try copy(in: database)
        } catch {
            // What was entered is durable all the same. ``Ledger/tidy()`` tries again, and reports.
        }
    }

    /// Copies the log into the ledger, as far as nobody reads what is there. To be called under the lock.
    func copy(in database: Database) throws {
        entered.store(0, ordering: .relaxed)
        try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
    }
}

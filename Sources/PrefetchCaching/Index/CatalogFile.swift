internal import GRDB
internal import PrefetchFileSystem
internal import SystemPackage

/// One open `catalog.sqlite`.
///
/// It uses the rollback journal, not WAL: the folder may be purged while it is in use, and with WAL a missing file of
/// the three causes I/O errors, and two processes on different generations of them cause corruption. Nothing is flushed
/// to the device while the cache is in use (`synchronous=OFF`): after a crash of the process the operating system still
/// has every page, and after a crash of the machine the file is not trusted (see ``CatalogTransaction/marks()``).
struct CatalogFile: Sendable {
    let queue: DatabaseQueue
    private let history: History
    /// `nil` for one in memory while there is none on disk.
    let identity: FileAttributes.Identity?
    /// Whether there was a journal before the file was opened. With it SQLite has rolled back the unfinished
    /// transaction of a process that died.
    let hadJournal: Bool
    /// The generation of the allowance that was entered into the file.
    var generation = 0

    /// The file under the catalog's name is no longer the one that a transaction wrote to.
    struct WasReplaced: Error {}

    /// The file has to be rebuilt.
    struct Unusable: Error, CustomStringConvertible {
        let description: String

        init(_ reason: String) {
            description = reason
        }
    }

    static let sideFiles = CacheLayout.databaseSides.map { CacheLayout.catalog + $0 }

    /// Bytes of the journal that stay after a transaction.
    private static let journalLimit = 64 << 10

    /// Opens or creates the file, whose location was just checked: see ``Directory/requireDatabasePlace(_:at:)``.
    ///
    /// - Parameter isReadOnly: Whether to open it as it is. SQLite refuses one with an unfinished transaction then.
    init(
        in root: Directory, at path: FilePath, hadJournal: Bool, isReadOnly: Bool = false,
        _ patience: Patience, _ history: History
    ) throws {
        self.hadJournal = hadJournal
        self.history = history
        var configuration = Configuration()
        configuration.label = "PrefetchCache.catalog"
        configuration.busyMode = .callback(patience.busyCallback())
        configuration.prepareDatabase { database in
            // Pages can be released only if this was requested before the first one was written.
            if try Int.fetchOne(database, sql: "PRAGMA page_count") == 0 {
                try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            }
            try Self.undoUnfinished(database)
            try database.execute(
                sql: """
                    PRAGMA journal_size_limit = \(Self.journalLimit);
                    PRAGMA synchronous = OFF;
                    PRAGMA fullfsync = ON;
                    PRAGMA temp_store = MEMORY;
                    """)
        }
        queue =
            try isReadOnly
            ? Self.view(in: root, at: path, isReadOnly: true, patience)
            : .opened(root.databasePath(CacheLayout.catalog, at: path), configuration)
        guard let identity = try Self.identity(in: root),
            // Otherwise this is the identity of a file that has replaced the open one.
            !queue.unsafeRead(\.hasMoved)
        else { throw WasReplaced() }
        self.identity = identity
    }

    /// Opens the file as it is, whose location was just checked.
    ///
    /// - Parameter isReadOnly: Whether an unfinished transaction is left alone, so that nothing can be read, rather than
    ///   rolled back.
    static func view(
        in root: Directory, at path: FilePath, isReadOnly: Bool, _ patience: Patience
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "PrefetchCache.catalog.view"
        configuration.readonly = isReadOnly
        configuration.busyMode = .callback(patience.busyCallback())
        configuration.prepareDatabase { database in
            try requireRollbackJournal(database)
            if !isReadOnly { try undoUnfinished(database) }
        }
        return try .opened(root.databasePath(CacheLayout.catalog, at: path), configuration)
    }

    /// One in memory, for who only looks. It counts as current as long as what has its name on disk stays the same.
    init(inMemoryFor identity: FileAttributes.Identity?, _ history: History) throws {
        self.identity = identity
        self.history = history
        hadJournal = true
        queue = try DatabaseQueue()
    }

    /// The identity of the file under the catalog's name, or `nil` when there is none.
    static func identity(in root: Directory) throws(FileSystemError) -> FileAttributes.Identity? {
        try attributes(in: root)?.identity
    }

    static func attributes(in root: Directory) throws(FileSystemError) -> FileAttributes? {
        try root.fileSystem.attributes(of: FilePath(CacheLayout.catalog), in: root.descriptor)
    }

    /// Whether there is a journal, as there is after every transaction. One that is missing or empty was purged, and
    /// may have been needed to roll back the transaction of a process that died.
    static func hasJournal(in root: Directory) throws(FileSystemError) -> Bool {
        let journal = try root.fileSystem.attributes(
            of: FilePath(CacheLayout.catalogJournal), in: root.descriptor)
        return journal.map { $0.length > 0 } ?? false
    }

    /// Checks, before the first access to it, that a database can be read without side effects. A file with a
    /// write-ahead log is foreign, and reading it would leave files behind.
    static func requireRollbackJournal(_ database: Database) throws {
        guard try DatabaseBytes.header(of: database).hasRollbackJournal else {
            throw Unusable("it is not a database with a rollback journal")
        }
    }

    /// Has SQLite roll back the transaction of a process that died, if there is one, and keep the journal from then on:
    /// see ``hasJournal(in:)``. That also saves one folder operation per transaction.
    ///
    /// A new connection deletes the journal after the rollback, and setting `journal_mode` triggers the rollback first:
    /// only in exclusive mode does it truncate the journal instead.
    static func undoUnfinished(_ database: Database) throws {
        let read = "SELECT * FROM sqlite_master LIMIT 1"
        try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; \(read)")
        // The locks are released by the first transaction in normal mode.
        try database.execute(sql: "PRAGMA journal_mode = PERSIST; PRAGMA locking_mode = NORMAL; \(read)")
    }

    /// Whether the file still has its name. SQLite keeps working on a file that was deleted while open.
    func isInPlace(in root: Directory) throws(FileSystemError) -> Bool {
        try Self.identity(in: root) == identity
    }

    /// Runs `body`, which only reads.
    func read<Result>(_ body: (CatalogTransaction) throws -> Result) throws -> Result {
        try queue.reading { try body(CatalogTransaction($0)) }
    }

    /// Runs `body` in a transaction that no other process can interleave with. If `body` requires the mark
    /// and there is none, the file is marked and `body` run again.
    func transaction<Result>(boot: String, _ body: (CatalogTransaction) throws -> Result) throws -> Result {
        while true {
            do {
                return try queue.writeWithoutTransaction { try inTransaction($0, body) }
            } catch is Unmarked {
                try durableTransaction { try $0.mark(boot: boot) }
            }
        }
    }

    /// Runs `body` in a transaction after which the file, with everything that was written before, is on the
    /// device.
    func durableTransaction<Result>(_ body: (CatalogTransaction) throws -> Result) throws -> Result {
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            let result = Swift.Result { try inTransaction(database, body) }
            try database.execute(sql: "PRAGMA synchronous = OFF")
            return try result.get()
        }
    }

    private func inTransaction<Result>(
        _ database: Database, _ body: (CatalogTransaction) throws -> Result
    ) throws -> Result {
        do {
            let transaction = CatalogTransaction(database)
            let result = try database.committing(.immediate) { try body(transaction) }
            history.record(transaction.changes)
            return result
        } catch let error as DatabaseError {
            throw error.isOutOfSpace(in: database) ? DatabaseError(resultCode: .SQLITE_FULL) : error
        }
    }

    /// Makes sure that the file is marked as in use and not flushed before anything is written. The mark itself is
    /// flushed, once: if a power cut lost the mark but kept a later page, a torn file would pass for an intact one. The
    /// process that closes the file removes the mark, at any moment except within a transaction.
    static func requireMark(_ transaction: CatalogTransaction) throws {
        guard try !transaction.marks().isEmpty else { throw Unmarked() }
    }

    private struct Unmarked: Error {}

    /// Flushes the file to the device, and removes the mark.
    func flushToDevice() throws {
        try durableTransaction { try $0.removeMark() }
    }

    func close() throws { try queue.close() }

    static func remove(in root: Directory) throws(FileSystemError) {
        for name in [CacheLayout.catalog] + sideFiles {
            try root.fileSystem.unlinkIfPresent(FilePath(name), in: root.descriptor)
        }
    }
}

/// What an error says about the file.
extension CatalogFile {
    /// Whether an error may be due to a full or read-only volume.
    static func isAboutWriting(_ error: any Error) -> Bool {
        isOutOfSpace(error) || (error as? DatabaseError)?.resultCode == .SQLITE_READONLY
    }

    static func isOutOfSpace(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_FULL
    }

    /// Whether the file itself is at fault, rather than the request, the process or the volume. It is then removed for
    /// all processes.
    static func isFaultOfTheFile(_ error: any Error) -> Bool {
        if error is UnreadableValue || error is RowDecodingError { return true }
        guard let error = error as? DatabaseError else { return false }
        // The last is an `EIO` while reading.
        return [
            .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_READONLY, .SQLITE_ERROR, .SQLITE_SCHEMA,
        ].contains(error.resultCode) || error.extendedResultCode == .SQLITE_IOERR_CORRUPTFS
    }

    /// Whether an error shows that nothing can be read from the file as it is.
    static func isUnusable(_ error: any Error) -> Bool {
        error is Unusable || error is WasReplaced || isAboutNames(error) || isFaultOfTheFile(error)
            || (error as? FileSystemError)?.isHardLinked == true
    }

    /// Whether an error may be due to a file or a folder that was removed or replaced.
    static func isAboutNames(_ error: any Error) -> Bool {
        if let error = error as? FileSystemError, error.errno == .staleNFSFileHandle { return true }
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode)
    }

    /// Whether an error shows by itself that the file, or its journal, has lost its name, or that its writer has died since
    /// it was opened for reading.
    static func isOfLostName(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.isOfUnfinishedTransaction
            || [.SQLITE_IOERR_FSTAT, .SQLITE_IOERR_DELETE_NOENT, .SQLITE_READONLY_DBMOVED].contains(
                error.extendedResultCode)
    }

    static func wrapped(_ error: any Error, in folders: CacheFolders) -> CacheError {
        do throws(FileSystemError) {
            try folders.areas.caches.pushing(CacheLayout.root).appending(CacheLayout.catalog)
                .requireReadable(after: error)
        } catch {
            return .fileSystem(error)
        }
        return switch error {
        case let error where isOutOfSpace(error):
            .fileSystem(FileSystemError("write", path: FilePath(CacheLayout.catalog), errno: .noSpace))
        case let error as DatabaseError where error.isBusy:
            .busy("catalog", [FilePath(CacheLayout.catalog)], in: folders.current.root)
        default: CacheError(error, ofDatabase: "catalog")
        }
    }
}

internal import GRDB
internal import GRDBSQLite
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

extension Directory {
    /// The path of a database in this folder as text, the only form that GRDB accepts.
    ///
    /// - Parameter path: The path of this folder. If it is not UTF-8, the `/proc` path of the open folder is used,
    ///   which is valid as long as this object lives. Only Linux has paths that are not UTF-8.
    func databasePath(_ name: String, at path: FilePath) -> String {
        #if os(Linux)
            if !path.isText { return "/proc/self/fd/\(descriptor.rawValue)/\(name)" }
        #endif
        return path.appending(name).string
    }

    /// Checks that SQLite, which opens by path and follows symbolic links, will open or create the file `name` and its
    /// side files in this very folder. Nothing may happen between this check and the opening.
    ///
    /// - Parameter path: The path of this folder.
    /// - Returns: The identity of the file, if it exists.
    /// - Throws: `ELOOP` for a symbolic link or anything else that is not a file, `EMLINK` for a file with several hard
    ///   links, each of which would have its own journal, and `ESTALE` when the path now leads to another folder.
    @discardableResult
    func requireDatabasePlace(_ name: String, at path: FilePath) throws(FileSystemError)
        -> FileAttributes.Identity?
    {
        for side in CacheLayout.databaseSides { _ = try onlyFile(name + side, at: path) }
        let own = try fileSystem.attributes(of: descriptor).identity
        guard try fileSystem.attributes(of: path, in: .workingDirectory)?.identity == own else {
            throw FileSystemError("open", path: path, errno: .staleNFSFileHandle)
        }
        return try onlyFile(name, at: path)
    }

    private func onlyFile(_ name: String, at path: FilePath) throws(FileSystemError)
        -> FileAttributes.Identity?
    {
        guard let file = try fileSystem.attributes(of: FilePath(name), in: descriptor) else { return nil }
        guard file.kind == .regular else {
            throw FileSystemError("open", path: path.appending(name), errno: .tooManySymbolicLinkLevels)
        }
        guard file.linkCount <= 1 else {
            throw FileSystemError("open", path: path.appending(name), errno: .tooManyLinks)
        }
        return file.identity
    }
}

extension FilePath {
    /// Checks that SQLite can open a database with its journal in this folder. It resolves all symbolic links first, so
    /// a short link does not help.
    ///
    /// - Throws: ``CacheError/pathTooLong(_:bytes:limit:)``.
    func requireRoom(forDatabase name: String) throws(CacheError) {
        // Without any, opening fails with an error of its own.
        guard let system = sqlite3_vfs_find(nil) else { return }
        let path = appending(name)
        let limit = Int(system.pointee.mxPathname) - "-journal".utf8.count
        let bytes = path.lengthWithoutLinks(system) ?? path.length
        guard bytes <= limit else { throw .pathTooLong(path.string, bytes: bytes, limit: limit) }
    }

    /// `nil` where the links cannot be resolved. Components that do not exist yet count as they are.
    private func lengthWithoutLinks(_ system: UnsafeMutablePointer<sqlite3_vfs>) -> Int? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 14) { target in
            let result = withPlatformString { path in
                system.pointee.xFullPathname(system, path, CInt(target.count), target.baseAddress)
            }
            // The higher bits tell whether there were links.
            return result & 0xFF == SQLITE_OK ? target.firstIndex(of: 0) : nil
        }
    }
}

/// The bytes of a database file, read by SQLite without any access to the database.
///
/// Nothing but SQLite may open such a file, or its `-shm` file: closing *any* descriptor of a file releases all POSIX
/// locks of the process on it, while another connection continues its transaction unaware. SQLite tracks the
/// connections of its process, and defers closing a descriptor until none of them holds a lock. That also rules out
/// `immutable=1` and `nolock=1`, with which it does neither.
enum DatabaseBytes {
    /// Reads a whole file.
    static func read(_ path: String) throws -> [UInt8] {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        try check(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil))
        return try read(connection, atMost: .max)
    }

    /// The kernel's error when the file at a path cannot be opened or read; `nil` when it can be.
    static func systemError(_ path: String) -> Errno? {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil) == SQLITE_OK else {
            return Errno(rawValue: sqlite3_system_errno(connection))
        }
        do {
            _ = try read(connection, atMost: DatabaseHeader.length)
            return nil
        } catch {
            var code: CInt = 0
            sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &code)
            return Errno(rawValue: code)
        }
    }

    /// The header of a database that was just opened.
    static func header(of database: Database) throws -> DatabaseHeader {
        DatabaseHeader(try read(database.sqliteConnection, atMost: DatabaseHeader.length))
    }

    /// - Returns: Fewer than `limit` bytes when the file is shorter.
    private static func read(_ connection: OpaquePointer?, atMost limit: Int) throws -> [UInt8] {
        var opened: UnsafeMutablePointer<sqlite3_file>?
        try check(sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &opened))
        guard let methods = opened?.pointee.pMethods?.pointee, let measure = methods.xFileSize,
            let read = methods.xRead
        else { throw DatabaseError(resultCode: .SQLITE_CANTOPEN) }
        var length: Int64 = 0
        try check(measure(opened, &length))
        let count = CInt(clamping: min(length, Int64(limit)))
        return try [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            let code = read(opened, buffer.baseAddress, count, 0)
            // Fills the rest with zeros when the file was truncated meanwhile.
            let result = ResultCode(rawValue: code)
            guard [.SQLITE_OK, .SQLITE_IOERR_SHORT_READ].contains(result) else {
                throw DatabaseError(resultCode: result)
            }
            initialized = Int(count)
        }
    }

    /// Makes bytes the content of a database in memory. None leave it as it is.
    static func load(_ content: [UInt8], into database: Database) throws {
        guard !content.isEmpty else { return }
        guard let copy = sqlite3_malloc64(UInt64(content.count)) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        content.withUnsafeBytes { bytes in
            if let first = bytes.baseAddress { copy.copyMemory(from: first, byteCount: bytes.count) }
        }
        try check(
            sqlite3_deserialize(
                database.sqliteConnection, "main", copy.assumingMemoryBound(to: UInt8.self),
                Int64(content.count), Int64(content.count),
                UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)))
    }

    /// Has SQLite leave the times of what it opens in this process only to read: it would change the access time and, for
    /// root, the owner of a journal to what it is.
    static func leaveTimes() { _ = timesStay }

    #if os(Linux)
        private static let timesStay: Bool = {
            guard let system = sqlite3_vfs_find(nil), let replace = system.pointee.xSetSystemCall else {
                return false
            }
            // SQLite casts them back before the call (sqlite.org/c3ref/vfs.html).
            let calls = [
                (
                    "open",
                    unsafeBitCast(LookingFileSystem.openWithoutAccessTime, to: sqlite3_syscall_ptr.self)
                ),
                ("fchown", unsafeBitCast(LookingFileSystem.changeOwner, to: sqlite3_syscall_ptr.self)),
            ]
            return calls.allSatisfy { replace(system, $0.0, $0.1) == SQLITE_OK }
        }()
    #else
        private static let timesStay = true
    #endif

    private static func check(_ code: CInt) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

/// The first bytes of a database file (sqlite.org/fileformat.html).
struct DatabaseHeader {
    static let length = 100
    private static let versions = 18...19
    private let bytes: [UInt8]

    /// - Parameter bytes: The file, or its beginning.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether changes go through a rollback journal rather than a log.
    var hasRollbackJournal: Bool {
        bytes.count >= Self.length && bytes[Self.versions].allSatisfy { $0 == 1 }
    }

    /// The version of the schema (`user_version`).
    var version: UInt32 {
        guard bytes.count >= Self.length else { return 0 }
        return bytes[60..<64].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Marks the content of a database as readable without a log.
    static func setRollbackJournal(in content: inout [UInt8]) {
        guard content.count >= length else { return }
        for index in versions { content[index] = 1 }
    }
}

extension Database {
    /// Whether the open file no longer has its name.
    var hasMoved: Bool {
        var moved: CInt = 0
        sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return moved != 0
    }

    /// Runs `body` in a transaction, and returns what it returns.
    func committing<Result>(_ kind: TransactionKind, _ body: () throws -> Result) throws -> Result {
        var result: Result?
        try inTransaction(kind) {
            result = try body()
            return .commit
        }
        guard let result else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
        return result
    }
}

extension DatabaseError {
    /// Whether a lock was unavailable. The second code is the one for the locks of a write-ahead log.
    var isBusy: Bool { [.SQLITE_BUSY, .SQLITE_PROTOCOL].contains(resultCode) }

    /// Whether a read-only connection has met the journal of a transaction that is to be rolled back.
    var isOfUnfinishedTransaction: Bool { extendedResultCode == .SQLITE_READONLY_ROLLBACK }

    /// Whether a full volume or quota caused the error, which SQLite itself recognises by `ENOSPC` alone.
    ///
    /// - Parameter database: The database that just failed.
    func isOutOfSpace(in database: Database) -> Bool {
        if resultCode == .SQLITE_FULL { return true }
        guard [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(resultCode) else { return false }
        return ([sqlite3_system_errno(database.sqliteConnection)] + Self.errors(ofFilesOf: database)).contains
        {
            FileSystemError("write", errno: Errno(rawValue: $0)).isOutOfSpace
        }
    }

    /// The last error of the file and of its journal or log. After a commit there is no other.
    private static func errors(ofFilesOf database: Database) -> [CInt] {
        let connection = database.sqliteConnection
        var ofFile: CInt = 0
        sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &ofFile)
        var ofJournal: CInt = 0
        var journal: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal)
        // Without methods the journal is not open.
        if let control = journal?.pointee.pMethods?.pointee.xFileControl {
            _ = control(journal, SQLITE_FCNTL_LAST_ERRNO, &ofJournal)
        }
        return [ofFile, ofJournal]
    }
}

extension CacheError {
    /// What an error of a database, or of files beside it, is to callers.
    init(_ error: any Error, ofDatabase name: String) {
        self =
            switch error {
            case let error as CacheError: error
            case let error as FileSystemError: .fileSystem(error)
            case ItemFormatError.fileSystem(let error): .fileSystem(error)
            case let error as ItemFormatError: .item(error)
            default: .database(name: name, message: "\(error)")
            }
    }
}

extension Directory {
    /// Checks that files can be created in this folder, since SQLite reports only that it failed.
    ///
    /// - Parameter path: The file that was to be written.
    /// - Throws: `EROFS` when the volume is read-only and that can be the cause of `error`.
    func requireWritableVolume(after error: any Error, _ path: FilePath) throws(FileSystemError) {
        guard let error = error as? DatabaseError,
            [.SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_IOERR].contains(error.resultCode),
            !error.isOfUnfinishedTransaction
        else { return }
        do {
            try requireWritableVolume()
        } catch {
            throw FileSystemError("write", path: path, errno: error.errno)
        }
    }

    /// - Throws: `EROFS` when the volume is read-only. Missing permissions are left to whoever needs them.
    func requireWritableVolume() throws(FileSystemError) {
        do {
            try fileSystem.requireWritable(descriptor)
        } catch {
            if error.isReadOnlyVolume { throw error }
        }
    }

    /// The bytes that can be written to the volume; `nil` if that cannot be measured.
    var available: Int64? {
        do { return try fileSystem.volume(of: descriptor).available } catch { return nil }
    }

    /// Whether nothing can be changed because the volume is read-only.
    var isOnReadOnlyVolume: Bool {
        do throws(FileSystemError) {
            try requireWritableVolume()
            return false
        } catch {
            return true
        }
    }
}

extension FilePath {
    /// Checks that a database can be read, since SQLite reports only that it failed. Apple's reports a file that is
    /// protected while the device is locked as `SQLITE_AUTH` or `SQLITE_IOERR`.
    ///
    /// - Throws: The kernel's error when the device is locked, or no more files can be opened, and that can be the cause of
    ///   `error`.
    func requireReadable(after error: any Error) throws(FileSystemError) {
        guard let error = error as? DatabaseError,
            [.SQLITE_AUTH, .SQLITE_PERM, .SQLITE_CANTOPEN, .SQLITE_IOERR].contains(error.resultCode),
            let reason = DatabaseBytes.systemError(string)
        else { return }
        let failure = FileSystemError("open", path: self, errno: reason)
        if failure.isOfLockedDevice || failure.isOutOfDescriptors { throw failure }
    }
}

/// A value that its column cannot hold: the file was damaged. SQLite does not check this on reading, not even for NULL
/// in a column that is declared NOT NULL.
struct UnreadableValue: Error, CustomStringConvertible {
    let description: String
}

extension Row {
    /// The value in a column. GRDB's own `row[index]` traps on a value of another type or out of range, and one flipped
    /// bit can produce either.
    ///
    /// - Throws: ``UnreadableValue``.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ index: Int, as type: Value.Type = Value.self
    ) throws -> Value {
        do {
            return try decode(Value.self, atIndex: index)
        } catch {
            throw UnreadableValue(description: "\(error)")
        }
    }
}

extension DatabaseQueue {
    /// Opens a database.
    static func opened(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        // GRDB reads from the file when it opens it.
        try lookingAgain { try DatabaseQueue(path: path, configuration: configuration) }.disposable
    }

    /// As `read`, whose `PRAGMA query_only` has SQLite prepare every statement anew.
    ///
    /// - Parameter body: Called again if its first statement fails: see ``lookingAgain(_:)``.
    func reading<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try Self.lookingAgain {
            try unsafeRead { database in try database.committing(.deferred) { try body(database) } }
        }
    }

    /// A read-only connection can mistake the journal of a transaction that has just begun for that of a dead process,
    /// which it may not roll back. At the next attempt it sees that the writer holds the lock.
    static func lookingAgain<Result>(_ body: () throws -> Result) throws -> Result {
        for _ in 1..<16 {
            do {
                return try body()
            } catch let error as DatabaseError where error.isOfUnfinishedTransaction { continue }
        }
        return try body()
    }

    /// This queue, which stays for ever if the system starts no thread: Dispatch disposes of it on one of its own, for which
    /// it waits.
    var disposable: DatabaseQueue {
        if !startThread(named: "dispose", {}) { _ = Unmanaged.passRetained(self) }
        return self
    }
}

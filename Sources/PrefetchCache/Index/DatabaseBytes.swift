internal import GRDB
internal import GRDBSQLite

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The bytes of a database file, read by SQLite without any access to the database.
///
/// Nothing but SQLite may open such a file, or the `-shm` file beside it: closing *any* descriptor of a file releases all
/// locks of the process on it, and another connection goes on with its transaction without knowing. SQLite knows of the
/// other connections of its process, and closes its descriptor when none of them holds a lock. That also rules out
/// `immutable=1` and `nolock=1`, with which it does not look.
enum DatabaseBytes {
    /// Reads a whole file.
    static func read(_ path: String) throws -> [UInt8] {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        try check(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil))
        return try read(connection, atMost: .max)
    }

    /// The header of a database that was opened just now.
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
            // Fills the rest with zeros when the file was cut off meanwhile.
            let result = ResultCode(rawValue: code)
            guard [.SQLITE_OK, .SQLITE_IOERR_SHORT_READ].contains(result) else {
                throw DatabaseError(resultCode: result)
            }
            initialized = Int(count)
        }
    }

    private static func check(_ code: CInt) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

/// The first bytes of a database file (sqlite.org/fileformat.html).
struct DatabaseHeader {
    static let length = 100
    private static let versions = 18...19
    private let bytes: [UInt8]

    /// - Parameter bytes: Those of the file, or its first ones.
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

    /// Makes the content of a database one that needs no log to be read.
    static func setRollbackJournal(in content: inout [UInt8]) {
        guard content.count >= length else { return }
        for index in versions { content[index] = 1 }
    }
}

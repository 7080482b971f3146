internal import FileSystem
internal import GRDB
internal import GRDBSQLite
internal import SystemPackage

extension DatabaseError {
    /// Whether a full volume or quota caused the error, which SQLite itself recognises by `ENOSPC` alone.
    ///
    /// - Parameter database: The database that failed just now.
    func isOutOfSpace(in database: Database) -> Bool {
        if resultCode == .SQLITE_FULL { return true }
        guard [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(resultCode) else { return false }
        let connection = database.sqliteConnection
        // The error of a statement, and that of the file, which is the only one after a commit.
        var ofFile: CInt = 0
        sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &ofFile)
        return [sqlite3_system_errno(connection), ofFile].contains { errno in
            FileSystemError("write", errno: Errno(rawValue: errno)).isOutOfSpace
        }
    }
}

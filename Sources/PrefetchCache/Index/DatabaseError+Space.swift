internal import FileSystem
internal import GRDB
internal import GRDBSQLite
internal import SystemPackage

extension DatabaseError {
    /// Whether a lock was not to be had. The second is how SQLite says so of the locks of a write-ahead log.
    var isBusy: Bool { [.SQLITE_BUSY, .SQLITE_PROTOCOL].contains(resultCode) }

    /// Whether a full volume or quota caused the error, which SQLite itself recognises by `ENOSPC` alone.
    ///
    /// - Parameter database: The database that failed just now.
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

extension Directory {
    /// Checks that files can be created in this folder, of which SQLite says no more than that it failed.
    ///
    /// - Parameter path: The file that was to be written.
    /// - Throws: `EROFS` when the volume takes no writes and that can be the cause of `error`.
    func requireWritableVolume(after error: any Error, _ path: FilePath) throws(FileSystemError) {
        guard let error = error as? DatabaseError,
            [.SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_IOERR].contains(error.resultCode)
        else { return }
        do {
            try fileSystem.requireWritable(descriptor)
        } catch {
            if error.isReadOnlyVolume { throw FileSystemError("write", path: path, errno: error.errno) }
        }
    }
}

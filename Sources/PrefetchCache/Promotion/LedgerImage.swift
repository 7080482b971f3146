internal import FileSystem
internal import GRDB
internal import GRDBSQLite
internal import SystemPackage

/// The ledger in memory: the content of the file, with what its log adds.
///
/// Even a reader has SQLite create files beside a database with a write-ahead log, which a full or read-only volume does
/// not take, and which whoever only looks must not leave behind.
enum LedgerImage {
    /// The ledger cannot be read by its bytes.
    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the ledger while nothing commits.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - patience: For a commit to end; without it, a commit under way is an error.
    /// - Returns: A database of its own, brought up to the present version, and the version that it had.
    /// - Throws: ``CacheError/newerLedger(version:)``.
    static func open(
        in folder: Directory, at path: FilePath, _ patience: Patience?
    ) throws -> (queue: DatabaseQueue, version: Int) {
        var configuration = Configuration()
        configuration.label = "PrefetchCache.ledger.image"
        let content = try content(in: folder, at: path, patience)
        configuration.prepareDatabase { try load(content, into: $0) }
        let queue = try DatabaseQueue(configuration: configuration)
        let version = try queue.writeWithoutTransaction { database in
            try LedgerSchema.refuseNewer(database)
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            try LedgerSchema.bringUpToDate(database)
            return version
        }
        return (queue, version)
    }

    private static func content(
        in folder: Directory, at path: FilePath, _ patience: Patience?
    ) throws -> [UInt8] {
        let fileSystem = folder.fileSystem
        let lock = try folder.takeLock(patience, .shared, for: "ledger")
        defer { fileSystem.unlock(lock) }
        let own = try fileSystem.attributes(of: folder.descriptor).identity
        guard try fileSystem.attributes(of: path, in: .workingDirectory)?.identity == own else {
            throw FileSystemError("open", path: path, errno: .staleNFSFileHandle)
        }
        let journal = FilePath("\(CacheLayout.ledger)-journal")
        if let journal = try fileSystem.attributes(of: journal, in: folder.descriptor), journal.length > 0 {
            throw Unavailable(description: "an interrupted change is undone at the next use")
        }
        // The log first: a process that closes the ledger copies it without our lock, and what it copies is then in both.
        let log = WriteAheadLog(try log(in: folder))
        var content = try DatabaseBytes.read(folder.databasePath(CacheLayout.ledger, at: path))
        log.apply(to: &content)
        DatabaseHeader.setRollbackJournal(in: &content)
        return content
    }

    /// The content of the log. SQLite keeps its locks on it elsewhere, so that it may be opened and closed.
    private static func log(in folder: Directory) throws(FileSystemError) -> [UInt8] {
        let fileSystem = folder.fileSystem
        do {
            return try fileSystem.withFile(FilePath(CacheLayout.ledgerLog), in: folder.descriptor, .read) {
                file throws(FileSystemError) in
                var content: [UInt8] = []
                try fileSystem.forEachPiece(of: file) { piece, _ throws(FileSystemError) in content += piece }
                return content
            }
        } catch {
            guard error.isNotFound else { throw error }
            return []
        }
    }

    private static func load(_ content: [UInt8], into database: Database) throws {
        guard !content.isEmpty else { return }
        guard let copy = sqlite3_malloc64(UInt64(content.count)) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        content.withUnsafeBytes { bytes in
            if let first = bytes.baseAddress { copy.copyMemory(from: first, byteCount: bytes.count) }
        }
        let code = sqlite3_deserialize(
            database.sqliteConnection, "main", copy.assumingMemoryBound(to: UInt8.self),
            Int64(content.count), Int64(content.count),
            UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

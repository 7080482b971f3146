internal import GRDB
internal import GRDBSQLite
internal import PrefetchFileSystem
internal import SystemPackage

/// The record in memory: the content of the file, with what its log adds.
///
/// Even for a reader, SQLite creates files next to a database with a write-ahead log, which fails on a full or
/// read-only volume, and which an inspection must not leave behind. No lock is needed, so a stopped process that holds
/// the locks blocks no reader.
enum RecordImage {
    /// The record cannot be read from its bytes.
    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    /// Retries when the files change between reads. Only two changes in 48, those that restart the log, matter.
    private static let attempts = 100

    /// Reads the record.
    ///
    /// - Parameter path: The path of the folder.
    /// - Returns: A separate database.
    /// - Throws: ``Unavailable``, and as ``RecordSchema/isCurrent(in:)``.
    static func open(in folder: Directory, at path: FilePath) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "PrefetchCache.record.image"
        DatabaseBytes.leaveTimes()
        let content = try content(in: folder, at: path)
        configuration.prepareDatabase { try DatabaseBytes.load(content, into: $0) }
        let queue = try DatabaseQueue(configuration: configuration).disposable
        try queue.writeWithoutTransaction { try RecordSchema.create(in: $0, folder) }
        return queue
    }

    private static func content(in folder: Directory, at path: FilePath) throws -> [UInt8] {
        let own = try folder.fileSystem.attributes(of: folder.descriptor).identity
        guard try folder.fileSystem.attributes(of: path, in: .workingDirectory)?.identity == own else {
            throw FileSystemError("open", path: path, errno: .staleNFSFileHandle)
        }
        let hasRecord =
            try folder.fileSystem.attributes(
                of: FilePath(CacheLayout.record), in: folder.descriptor) != nil
        let name = hasRecord ? CacheLayout.record : EarlierRecord.ledger
        for _ in 0..<attempts {
            if let content = try contentIfStable(of: name, in: folder, at: path) { return content }
        }
        throw Unavailable(description: "it changes all the time")
    }

    /// Reads the file, then the log: pages that were copied from the log to the file meanwhile are in both, and the log
    /// has the last committed version of each. That holds until the log, once completely copied, is restarted, which
    /// changes its header.
    ///
    /// - Returns: `nil` when the log was restarted meanwhile.
    private static func contentIfStable(of name: String, in folder: Directory, at path: FilePath) throws
        -> [UInt8]?
    {
        let file = folder.databasePath(name, at: path)
        let generation = try log(of: name, in: folder, atMost: WriteAheadLog.headerLength)
        var content = try DatabaseBytes.read(file)
        let log = try log(of: name, in: folder)
        guard log.starts(with: generation), generation.count == min(log.count, WriteAheadLog.headerLength),
            try Self.log(of: name, in: folder, atMost: WriteAheadLog.headerLength) == generation
        else { return nil }
        if generation.allSatisfy({ $0 == 0 }) {
            // Without a log, one may have been created, copied and deleted in between.
            guard try DatabaseBytes.read(file) == content else { return nil }
        }
        let journal = FilePath("\(name)-journal")
        let found = try folder.fileSystem.attributes(of: journal, in: folder.descriptor)
        if let found, found.length > 0 {
            // A record that is just being created has no entries yet.
            guard DatabaseHeader(content).version == 0 else {
                throw Unavailable(description: "an interrupted change is undone at the next use")
            }
            return []
        }
        WriteAheadLog(log).apply(to: &content)
        DatabaseHeader.setRollbackJournal(in: &content)
        return content
    }

    /// The content of the log. SQLite keeps its locks on it elsewhere, so that it may be opened and closed.
    private static func log(
        of name: String, in folder: Directory, atMost limit: Int = .max
    ) throws(FileSystemError) -> [UInt8] {
        let fileSystem = folder.fileSystem
        do {
            return try fileSystem.withFile(FilePath("\(name)-wal"), in: folder.descriptor, .read) {
                file throws(FileSystemError) in
                var content: [UInt8] = []
                try fileSystem.forEachPiece(of: file, count: Int64(limit)) {
                    piece, _ throws(FileSystemError) in
                    content += piece
                }
                return content
            }
        } catch {
            guard error.isNotFound else { throw error }
            return []
        }
    }
}

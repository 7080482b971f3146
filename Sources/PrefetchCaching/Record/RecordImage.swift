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

/// The content of a write-ahead log of SQLite (sqlite.org/fileformat.html#the_write_ahead_log).
struct WriteAheadLog {
    static let headerLength = 32
    private static let frameHeaderLength = 24
    private static let magic: UInt32 = 0x377F_0682

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Copies all committed pages into the content of the database, as SQLite does when it recovers the log: up to the
    /// first frame that is damaged or from another generation of the log. Idempotent.
    func apply(to content: inout [UInt8]) {
        guard bytes.count >= Self.headerLength, word(at: 0) & ~1 == Self.magic else { return }
        let pageSize = Int(word(at: 8))
        guard (512...65536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return }
        var sum = Sum(isBigEndian: word(at: 0) & 1 == 1)
        sum.add(bytes[..<24])
        guard sum.isEqual(word(at: 24), word(at: 28)) else { return }

        var pages: [Int: Int] = [:]
        var frame = Self.headerLength
        while frame + Self.frameHeaderLength + pageSize <= bytes.count {
            let page = frame + Self.frameHeaderLength
            let (number, length) = (Int(word(at: frame)), Int(word(at: frame + 4)))
            guard number > 0, word(at: frame + 8) == word(at: 16), word(at: frame + 12) == word(at: 20)
            else { break }
            sum.add(bytes[frame..<frame + 8])
            sum.add(bytes[page..<page + pageSize])
            guard sum.isEqual(word(at: frame + 16), word(at: frame + 20)) else { break }
            pages[number] = page
            // The last frame of a transaction has the length of the database after it, in pages.
            if length > 0 {
                commit(pages, pageSize, length, to: &content)
                pages = [:]
            }
            frame = page + pageSize
        }
    }

    private func commit(_ pages: [Int: Int], _ pageSize: Int, _ length: Int, to content: inout [UInt8]) {
        // Every page beyond the current end is in the log.
        let end = min(length * pageSize, max(content.count, (pages.keys.max() ?? 0) * pageSize))
        if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
        content.removeLast(content.count - end)
        for (number, page) in pages where number * pageSize <= end {
            content.replaceSubrange(
                (number - 1) * pageSize..<number * pageSize, with: bytes[page..<page + pageSize])
        }
    }

    /// A big-endian word.
    private func word(at index: Int) -> UInt32 {
        bytes[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private struct Sum {
        let isBigEndian: Bool
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        init(isBigEndian: Bool) {
            self.isBigEndian = isBigEndian
        }

        func isEqual(_ first: UInt32, _ second: UInt32) -> Bool {
            self.first == first && self.second == second
        }

        mutating func add(_ bytes: ArraySlice<UInt8>) {
            bytes.withUnsafeBytes { bytes in
                for offset in stride(from: 0, to: bytes.count, by: 8) {
                    first &+= word(bytes, offset) &+ second
                    second &+= word(bytes, offset + 4) &+ first
                }
            }
        }

        private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }
    }
}

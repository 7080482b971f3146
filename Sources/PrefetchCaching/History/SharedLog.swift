internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// A small file to which several processes append records, under the file's own lock (`flock`), and which each of them
/// reads on from where it was.
///
/// Records are checksummed: one that a dying process left unfinished ends the file for readers, and the next writer cuts
/// it off. The file may be replaced as a whole under the lock, which its readers notice. Nothing is
/// flushed to the device except a replacement.
struct SharedLog: Sendable {
    /// Up to where the file was read.
    ///
    /// The last record tells the file from a later one that was given the same identity, and is looked for in a file that
    /// has replaced this one and begins with some of its records.
    struct Position: Hashable, Sendable {
        let file: FileAttributes.Identity
        var offset: Int64
        /// `nil` before the first record.
        var last: Header?
    }

    /// What precedes a record: its length, in 4 bytes, and its checksum, in 8, both little-endian.
    struct Header: Hashable, Sendable {
        static let count = 12

        let length: UInt32
        let checksum: UInt64

        init(of record: [UInt8]) {
            length = UInt32(record.count)
            checksum = record.withUnsafeBytes { Checksum.of($0) }
        }

        /// - Parameter bytes: At least ``count`` bytes from `offset` on.
        init(in bytes: [UInt8], at offset: Int) {
            (length, checksum) = bytes.withUnsafeBytes {
                (
                    UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)),
                    UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset + 4, as: UInt64.self))
                )
            }
        }

        var bytes: [UInt8] {
            withUnsafeBytes(of: length.littleEndian) { Array($0) }
                + withUnsafeBytes(of: checksum.littleEndian) { Array($0) }
        }
    }

    /// What was appended since a position.
    struct News {
        var records: [[UInt8]] = []
        /// `nil` when there is no file.
        var position: Position?
        /// Whether `records` are all records of the file, since the given position is not in it or none was given.
        var isWhole = true
    }

    enum Failure: Error {
        /// Another process holds the lock.
        case isBusy
        /// The file was written by a newer version, and is left alone.
        case isNewer
        case fileSystem(FileSystemError)
    }

    /// The length of the file in bytes is at most this.
    static let limit: Int64 = 1 << 20
    private static let attempts = 20

    let name: FilePath.Component
    let folder: Directory
    /// Eight bytes: seven of the kind, one of the version.
    let mark: [UInt8]
    /// Whether no two records are the same, so that one tells where a reader was in a file that has replaced another.
    let hasDistinctRecords: Bool

    init(
        _ name: FilePath.Component, in folder: Directory, kind: String, version: UInt8,
        hasDistinctRecords: Bool
    ) {
        self.hasDistinctRecords = hasDistinctRecords
        self.name = name
        self.folder = folder
        mark = Array(kind.utf8.prefix(7)) + [version]
    }

    private var fileSystem: any FileSystem { folder.fileSystem }
    private var path: FilePath { FilePath(root: nil, [name]) }

    /// Reads what follows `position`, without a lock.
    func read(after position: Position? = nil) throws(Failure) -> News {
        let file: Descriptor
        do throws(FileSystemError) {
            file = try fileSystem.open(path, in: folder.descriptor, .read)
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
            return News()
        }
        defer { fileSystem.close(file) }
        return try news(in: file, after: position)
    }

    private func news(in file: Descriptor, after position: Position?) throws(Failure) -> News {
        let attributes = try onLog { () throws(FileSystemError) in try fileSystem.attributes(of: file) }
        var news = News()
        var start = Int64(mark.count)
        if let position, position.file == attributes.identity, position.offset <= attributes.length,
            try isAt(position, in: file)
        {
            news.isWhole = false
            start = position.offset
        } else {
            let found = try onLog { () throws(FileSystemError) in
                try fileSystem.bytes(of: file, count: mark.count)
            }
            guard found == mark else {
                if found.count == mark.count, found.dropLast() == mark.dropLast(),
                    found[mark.count - 1] > mark[mark.count - 1]
                {
                    throw .isNewer
                }
                // Empty or damaged: it has no records, and is begun anew.
                return News(position: Position(file: attributes.identity, offset: 0))
            }
        }
        let length = max(0, min(attributes.length, Self.limit) - start)
        let bytes = try onLog { () throws(FileSystemError) in
            try fileSystem.bytes(of: file, at: start, count: Int(length))
        }
        var offset = 0
        var last = news.isWhole ? nil : position?.last
        while let (header, record) = Self.record(in: bytes, at: offset) {
            news.records.append(record)
            offset += Header.count + record.count
            last = header
            if news.isWhole, hasDistinctRecords, header == position?.last {
                // The file was replaced by one that goes on with the same records.
                news.isWhole = false
                news.records = []
            }
        }
        news.position = Position(file: attributes.identity, offset: start + Int64(offset), last: last)
        return news
    }

    /// Whether the record that ends at a position is the one that did.
    private func isAt(_ position: Position, in file: Descriptor) throws(Failure) -> Bool {
        guard let last = position.last else { return false }
        let start = position.offset - Int64(last.length) - Int64(Header.count)
        let found = try onLog { () throws(FileSystemError) in
            try fileSystem.bytes(of: file, at: start, count: Header.count)
        }
        return found == last.bytes
    }

    private static func record(in bytes: [UInt8], at offset: Int) -> (Header, [UInt8])? {
        guard offset + Header.count <= bytes.count else { return nil }
        let header = Header(in: bytes, at: offset)
        let start = offset + Header.count
        guard header.length > 0, Int(header.length) <= bytes.count - start else { return nil }
        let record = Array(bytes[start..<start + Int(header.length)])
        return Header(of: record) == header ? (header, record) : nil
    }

    private static func framed(_ record: [UInt8]) -> [UInt8] { Header(of: record).bytes + record }

    /// Appends a record, with no other process in between.
    ///
    /// - Parameters:
    ///   - position: Up to where the file is known to be sound; `nil` if it is unknown.
    ///   - isWaiting: Whether to wait while another process writes.
    ///   - summary: Returns the records to keep of all records and the new one, when the file would become too long.
    /// - Returns: The position after the record.
    func append(
        _ record: [UInt8], after position: Position?, isWaiting: Bool = true,
        orReplaceBy summary: ([[UInt8]]) -> [[UInt8]]
    ) throws(Failure) -> Position? {
        try exclusively(isWaiting: isWaiting) { file throws(Failure) in
            let news = try news(in: file, after: position)
            let frame = Self.framed(record)
            guard var end = news.position, end.offset >= Int64(mark.count),
                end.offset + Int64(frame.count) <= Self.limit
            else {
                let all = try self.news(in: file, after: nil)
                return try onLog { () throws(FileSystemError) in try replace(by: summary(all.records)) }
            }
            return try onLog { () throws(FileSystemError) in
                try fileSystem.resize(file, to: end.offset)
                try fileSystem.writeAll(frame, to: file, at: end.offset)
                end.offset += Int64(frame.count)
                end.last = Header(of: record)
                return end
            }
        }
    }

    /// Replaces all records by one.
    func replaceAll(by record: [UInt8]) throws(Failure) {
        try exclusively { file throws(Failure) in
            // Throws for a newer version.
            _ = try news(in: file, after: nil)
            _ = try onLog { () throws(FileSystemError) in try replace(by: [record]) }
        }
    }

    /// Runs `body` while no other process writes.
    private func exclusively<Result>(
        isWaiting: Bool = true, _ body: (Descriptor) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The first attempt may have to create the file.
        for number in 0..<(isWaiting ? Self.attempts : 2) {
            if number > 0 { Patience.pause(number) }
            guard let file = try onLog(locked) else { continue }
            defer { fileSystem.unlock(file) }
            // It may have been replaced while the lock was being taken.
            let isInPlace = try onLog { () throws(FileSystemError) in
                try fileSystem.attributes(of: path, in: folder.descriptor)?.identity
                    == fileSystem.attributes(of: file).identity
            }
            if isInPlace { return try body(file) }
        }
        throw .isBusy
    }

    private func onLog<Result>(_ body: () throws(FileSystemError) -> Result) throws(Failure) -> Result {
        do {
            return try body()
        } catch {
            throw .fileSystem(error)
        }
    }

    private func locked() throws(FileSystemError) -> Descriptor? {
        do {
            return try fileSystem.open(path, in: folder.descriptor, .readWrite) {
                file throws(FileSystemError) in
                try fileSystem.lockIfSupported(file)
            }
        } catch {
            guard error.isNotFound else { throw error }
        }
        do {
            let file = try fileSystem.open(
                path, in: folder.descriptor, .createNew(CacheLayout.filePermissions))
            defer { fileSystem.close(file) }
            try fileSystem.writeAll(mark, to: file, at: 0)
        } catch {
            // Another process may have been faster.
            guard error.errno == .fileExists else { throw error }
        }
        return nil
    }

    private func replace(by records: [[UInt8]]) throws(FileSystemError) -> Position? {
        let bytes = records.reduce(into: mark) { $0 += Self.framed($1) }
        try fileSystem.replaceContents(
            of: name, in: folder.descriptor, with: bytes, permissions: CacheLayout.filePermissions,
            durable: true)
        guard let file = try fileSystem.attributes(of: path, in: folder.descriptor)?.identity else {
            return nil
        }
        return Position(file: file, offset: Int64(bytes.count), last: records.last.map(Header.init(of:)))
    }
}

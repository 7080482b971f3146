internal import GRDB
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// What the last build before 1.0 kept in place of the ``Record``: the promotions in `ledger.sqlite`, and what it counted in
/// a binary log.
enum EarlierRecord {
    /// The version of its `ledger.sqlite`, to which the record adds tables.
    static let version = 6
    static let ledger = "ledger.sqlite"
    private static let historyLog = FilePath("history")
    /// What it counted, and its journal, which is not taken over.
    static let logs = [historyLog, FilePath("journal")]

    /// Gives `ledger.sqlite` the name of the record. To be called under the lock of the folder, where there is no record.
    static func rename(in folder: Directory, at path: FilePath) throws {
        try folder.requireDatabasePlace(ledger, at: path)
        // Without its log, which has a name of its own.
        let queue = try DatabaseQueue(path: folder.databasePath(ledger, at: path)).disposable
        try queue.writeWithoutTransaction { database in
            try RecordSchema.isCurrent(in: database)
            try database.execute(sql: "PRAGMA journal_mode = DELETE")
        }
        try queue.close()
        let fileSystem = folder.fileSystem
        try fileSystem.rename(
            FilePath(ledger), in: folder.descriptor, to: FilePath(CacheLayout.record),
            in: folder.descriptor, .exclusive)
        try fileSystem.synchronize(folder.descriptor)
    }

    /// Removes what the record has taken over.
    static func removeLogs(in folder: Directory) throws(FileSystemError) {
        for name in logs where try folder.fileSystem.attributes(of: name, in: folder.descriptor) != nil {
            do throws(FileSystemError) {
                try folder.fileSystem.unlink(name, in: folder.descriptor)
            } catch {
                guard error.isNotFound else { throw error }
            }
        }
    }

    /// The daily sums: after a mark of 8 bytes, records with their length (4 bytes), their checksum (8 bytes) and, in numbers
    /// of variable length, the names of the sources and for each row the number of its source, the day, and pairs of metric
    /// and sum. Damage ends them.
    static func history(in folder: Directory) throws(FileSystemError) -> HistoryRows {
        var rows = HistoryRows()
        let fileSystem = folder.fileSystem
        var log: [UInt8] = []
        do throws(FileSystemError) {
            try fileSystem.withFile(historyLog, in: folder.descriptor, .read) {
                file throws(FileSystemError) in
                try fileSystem.forEachPiece(of: file, count: 1 << 20) { piece, _ throws(FileSystemError) in
                    log += piece
                }
            }
        } catch {
            guard error.isNotFound else { throw error }
        }
        guard log.starts(with: Array("PCacheH".utf8) + [1]) else { return rows }
        var rest = log.dropFirst(8)
        while rest.count > 12 {
            let header = Array(rest.prefix(12))
            let (length, checksum) = header.withUnsafeBytes {
                (
                    Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt32.self))),
                    UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
                )
            }
            let record = Array(rest.dropFirst(12).prefix(length))
            guard record.count == length, record.withUnsafeBytes({ Checksum.of($0) }) == checksum else {
                break
            }
            var numbers = Numbers(rest: record[...])
            guard numbers.add(to: &rows) else { break }
            rest = rest.dropFirst(12 + length)
        }
        return rows
    }

    /// Numbers of variable length (LEB128), signed ones in zigzag order. Past the end they are `nil`.
    private struct Numbers {
        var rest: ArraySlice<UInt8>

        mutating func next() -> UInt64? {
            var (number, shift): (UInt64, UInt64) = (0, 0)
            while let byte = rest.popFirst(), shift < 64 {
                number |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return number }
                shift += 7
            }
            return nil
        }

        mutating func signed() -> Int64? {
            next().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
        }

        /// - Returns: Whether the record was complete.
        mutating func add(to rows: inout HistoryRows) -> Bool {
            var names: [SourceName] = []
            guard let count = next() else { return false }
            for _ in 0..<count {
                guard let length = next(), length <= UInt64(rest.count) else { return false }
                names.append(SourceName(String(decoding: rest.prefix(Int(length)), as: UTF8.self)))
                rest = rest.dropFirst(Int(length))
            }
            guard let count = next() else { return false }
            for _ in 0..<count {
                guard let number = next(), number < UInt64(names.count),
                    let day = signed().flatMap(Int32.init(exactly:)), let sums = next()
                else { return false }
                var figures = PrefetchFigures()
                for _ in 0..<sums {
                    guard let metric = next(), let value = signed() else { return false }
                    UInt8(exactly: metric).flatMap(PrefetchFigures.Metric.init).map { figures[$0] = value }
                }
                rows.add(figures, day: day, source: names[Int(number)])
            }
            return true
        }
    }
}

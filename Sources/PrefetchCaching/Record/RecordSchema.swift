internal import GRDB
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The tables of `record.sqlite`.
///
/// The record is durable: every version that was ever released is read, and upgraded in one transaction. So is what the last
/// build before 1.0 left, see ``EarlierRecord``. Any other version is refused and left alone.
enum RecordSchema {
    /// The version of the schema, kept in `user_version`.
    static let version = 7

    /// Without a creation time or a time of storing nothing is known of it, and without parts it is a single file.
    private static let promotions = """
        CREATE TABLE promotion (
            hash BLOB NOT NULL PRIMARY KEY,
            key TEXT NOT NULL,
            state INTEGER NOT NULL,
            mode INTEGER NOT NULL,
            area INTEGER NOT NULL,
            name TEXT NOT NULL,
            backup INTEGER NOT NULL,
            contentLength INTEGER NOT NULL,
            contentChecksum INTEGER NOT NULL,
            stagedName TEXT NOT NULL,
            inode INTEGER NOT NULL,
            openedAt INTEGER NOT NULL,
            folder TEXT NOT NULL,
            plainName TEXT NOT NULL,
            birthTime INTEGER,
            origin INTEGER NOT NULL,
            storedAt INTEGER,
            source TEXT NOT NULL,
            intent INTEGER NOT NULL,
            entityTag TEXT NOT NULL,
            lastModified TEXT NOT NULL,
            url TEXT NOT NULL,
            attributes BLOB,
            parts BLOB,
            successor BLOB
        ) WITHOUT ROWID;
        -- Intents are not looked for, and cost no write.
        CREATE INDEX place ON promotion (name COLLATE NOCASE, folder COLLATE NOCASE) WHERE state = 2;
        """

    private static let counts = """
        CREATE TABLE day (
            day INTEGER NOT NULL,
            source TEXT NOT NULL,
            figures BLOB NOT NULL,
            PRIMARY KEY (day, source)
        ) WITHOUT ROWID;
        CREATE TABLE journal (
            number INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,
            kind TEXT NOT NULL,
            reason TEXT NOT NULL,
            key TEXT NOT NULL,
            source TEXT NOT NULL,
            count INTEGER NOT NULL,
            contentBytes INTEGER NOT NULL,
            chargedBytes INTEGER NOT NULL,
            storedAt INTEGER,
            wasRead INTEGER NOT NULL
        );
        -- Another number since the journal was emptied last.
        CREATE TABLE journalEpoch (epoch INTEGER NOT NULL);
        INSERT INTO journalEpoch VALUES (random());
        PRAGMA user_version = \(version);
        """

    /// Makes the tables in a file that is new, or those that an earlier build did not have.
    ///
    /// - Parameter folder: Where that build has left what it counted.
    /// - Throws: As ``isCurrent(in:)``; nothing was written in that case.
    static func create(in database: Database, _ folder: Directory) throws {
        guard try !isCurrent(in: database) else { return }
        try database.committing(.immediate) {
            // Another process may have been first.
            guard try !isCurrent(in: database) else { return }
            let isNew = try found(in: database) < EarlierRecord.version
            try database.execute(sql: (isNew ? promotions : "") + counts)
            try EarlierRecord.history(in: folder).replaceAll(in: database)
        }
    }

    /// Whether the file has all tables.
    ///
    /// - Throws: ``CacheError/newerLedger(version:)``, and ``CacheError/database(name:message:)`` for a version that was
    ///   never released.
    @discardableResult static func isCurrent(in database: Database) throws -> Bool {
        switch try found(in: database) {
        case version: return true
        case ..<1, EarlierRecord.version: return false
        case let found where found > version: throw CacheError.newerLedger(version: found)
        case let found:
            throw CacheError.database(name: "record", message: "its version \(found) was never released")
        }
    }

    private static func found(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }
}

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
            try folder.fileSystem.unlinkIfPresent(name, in: folder.descriptor)
        }
    }

    /// The daily sums: after a mark of 8 bytes, records with their length (4 bytes), their checksum (8 bytes) and, in numbers
    /// of variable length, the names of the sources and for each row the number of its source, the day, and pairs of metric
    /// and sum. Damage ends them.
    static func history(in folder: Directory) throws(FileSystemError) -> HistoryRows {
        var rows = HistoryRows()
        let found = try folder.fileSystem.contents(of: historyLog, in: folder.descriptor, limit: .max)
        guard let log = found, log.starts(with: Array("PCacheH".utf8) + [1]) else { return rows }
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

internal import Foundation
internal import GRDB
internal import PrefetchItemFormat

/// The daily sums in the ``Record``.
extension HistoryRows {
    /// All rows. What a newer version has added to one is passed over.
    init(from database: Database) throws {
        self.init()
        let cursor = try Row.fetchCursor(database, sql: "SELECT day, source, figures FROM day")
        while let row = try cursor.next() {
            let figures = PrefetchFigures(stored: try row.value(2, as: Data.self))
            add(figures, day: try row.value(0), source: SourceName(try row.value(1)))
        }
    }

    /// Adds the rows to those of the database, and merges what exceeds the bounds.
    func add(to database: Database, today: Int32) throws {
        let select = try database.cachedStatement(
            sql: "SELECT figures FROM day WHERE day = ? AND source = ?")
        var isLonger = false
        for (place, more) in figures {
            let known = try Data.fetchOne(select, arguments: [place.day, place.source.text])
            var figures = known.map(PrefetchFigures.init(stored:)) ?? PrefetchFigures()
            figures.add(more)
            try Self.write(figures, at: place, to: database)
            isLonger = isLonger || known == nil
        }
        guard isLonger else { return }
        let rows = try HistoryRows(from: database)
        var bounded = rows
        bounded.bound(today: today)
        if bounded != rows { try bounded.replaceAll(in: database) }
    }

    func replaceAll(in database: Database) throws {
        try database.execute(sql: "DELETE FROM day")
        for (place, figures) in figures { try Self.write(figures, at: place, to: database) }
    }

    private static func write(_ figures: PrefetchFigures, at place: Place, to database: Database) throws {
        try database.cachedStatement(
            sql: "INSERT OR REPLACE INTO day (day, source, figures) VALUES (?, ?, ?)"
        )
        .execute(arguments: [place.day, place.source.text, figures.stored])
    }
}

/// The stored form: for each sum that is not 0 the number of its metric, in one byte, and its value, in eight bytes,
/// little-endian.
extension PrefetchFigures {
    private static let bytesPerSum = 9

    fileprivate init(stored data: Data) {
        self.init()
        let bytes = [UInt8](data)
        for start in stride(from: 0, through: bytes.count - Self.bytesPerSum, by: Self.bytesPerSum) {
            guard let metric = Metric(rawValue: bytes[start]) else { continue }
            let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + 1, as: Int64.self) }
            self[metric] = Int64(littleEndian: value)
        }
    }

    fileprivate var stored: Data {
        var data = Data(capacity: all.count * Self.bytesPerSum)
        for (metric, value) in all {
            data.append(metric.rawValue)
            withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
        }
        return data
    }
}

/// The entries of the journal in the ``Record``. Their numbers have no gaps, and tell how many were dropped before the first.
enum JournalTable {
    /// Bytes of entries that are kept.
    static let limit: Int64 = 1 << 20
    /// The number of entries after which it is looked whether they are too many.
    private static let interval: Int64 = 1024
    /// What an entry takes besides its texts, about.
    private static let bytesPerEntry = 48
    private static let columns =
        "time, kind, reason, key, source, count, contentBytes, chargedBytes, storedAt, wasRead"

    static func append(_ entries: some Collection<JournalEntry>, to database: Database) throws {
        let insert = try database.cachedStatement(
            sql: "INSERT INTO journal (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        for entry in entries {
            let values: [(any DatabaseValueConvertible)?] = [
                entry.time, entry.kind.rawValue, entry.reason, JournalEntry.kept(entry.key),
                JournalEntry.kept(entry.source), entry.count, entry.contentBytes, entry.chargedBytes,
                entry.storedAt, entry.wasRead,
            ]
            try insert.execute(arguments: StatementArguments(values))
        }
        let last = database.lastInsertedRowID
        guard last / interval > (last - Int64(entries.count)) / interval else { return }
        try database.execute(
            sql: """
                DELETE FROM journal WHERE number <= (
                    SELECT max(number) FROM (
                        SELECT number, sum(\(bytesPerEntry) + length(CAST(key || source AS BLOB)))
                            OVER (ORDER BY number DESC) AS bytes FROM journal)
                    WHERE bytes > \(limit))
                """)
    }

    /// The entries after a position, in the order in which they were written, and how many are missing before them.
    static func read(after position: JournalPosition?, in database: Database) throws -> Journal {
        let epoch = try Int64.fetchOne(database, sql: "SELECT epoch FROM journalEpoch")
        let isOfEpoch = position?.epoch == nil || position?.epoch == epoch
        let start = isOfEpoch ? position?.number ?? 0 : 0
        let rows = try Row.fetchAll(
            database, sql: "SELECT number, \(columns) FROM journal WHERE number > ? ORDER BY number",
            arguments: [start])
        let first: Int64 = try rows.first?.value(0) ?? start + 1
        var entries = try rows.compactMap(JournalEntry.init)
        if first > start + 1 {
            entries.insert(
                JournalEntry(time: entries.first?.time ?? 0, kind: .entriesLost, count: first - start - 1),
                at: 0)
        }
        return Journal(
            entries: entries,
            end: JournalPosition(epoch: epoch, number: try rows.last?.value(0) ?? start),
            isComplete: isOfEpoch && first == start + 1 && entries.first?.kind != .entriesLost)
    }

    /// Empties the journal. Whoever reads on from a position begins with what comes then.
    static func removeAll(from database: Database) throws {
        try database.execute(
            sql: "DELETE FROM journal; UPDATE journalEpoch SET epoch = ?",
            arguments: [Int64.random(in: .min ... .max)])
    }
}

extension JournalEntry {
    /// - Returns: `nil` for a kind of a newer version.
    fileprivate init?(_ row: Row) throws {
        guard let kind = Kind(rawValue: try row.value(2)) else { return nil }
        self.init(
            time: try row.value(1), kind: kind, count: try row.value(6), key: try row.value(4),
            source: try row.value(5), reason: try row.value(3), contentBytes: try row.value(7),
            chargedBytes: try row.value(8), storedAt: try row.value(9), wasRead: try row.value(10))
    }
}

internal import GRDB
internal import PrefetchFileSystem

/// The tables of `record.sqlite`.
///
/// The record is durable: every version that was ever released is read, and upgraded in one transaction. So is what the last
/// build before 1.0 left, see ``EarlierRecord``. Any other version is refused and left alone.
enum RecordSchema {
    /// The version of the schema, kept in `user_version`.
    static let version = 7

    /// Without a creation time or a time of storing nothing is known of it, an empty plain name means the same as the name,
    /// and without parts it is a single file.
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
        try database.inTransaction(.immediate) {
            // Another process may have been first.
            if try !isCurrent(in: database) {
                let isNew = try found(in: database) < EarlierRecord.version
                try database.execute(sql: (isNew ? promotions : "") + counts)
                try EarlierRecord.history(in: folder).replaceAll(in: database)
            }
            return .commit
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

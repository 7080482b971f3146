internal import GRDB

/// The table of `ledger.sqlite`.
///
/// The ledger is durable: every version that was ever released is read, and migrated in one transaction. There is only one.
/// Any other is refused and left alone.
enum LedgerSchema {
    /// The version of the schema, kept in `user_version`.
    static let version = 6

    /// Without a creation time or a time of storing nothing is known of it, an empty plain name means the same as the name,
    /// and without parts it is a single file.
    private static let table = """
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
        PRAGMA user_version = \(version);
        """

    /// Makes the table in a file that is new.
    ///
    /// - Throws: As ``isMissing(in:)``; nothing was written in that case.
    static func create(in database: Database) throws {
        guard try isMissing(in: database) else { return }
        try database.inTransaction(.immediate) {
            // Another process may have been first.
            if try isMissing(in: database) { try database.execute(sql: table) }
            return .commit
        }
    }

    /// Whether the file is new.
    ///
    /// - Throws: ``CacheError/newerLedger(version:)``, and ``CacheError/database(name:message:)`` for a version that was
    ///   never released.
    @discardableResult static func isMissing(in database: Database) throws -> Bool {
        switch try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0 {
        case version: return false
        case ..<1: return true
        case let found where found > version: throw CacheError.newerLedger(version: found)
        case let found:
            throw CacheError.database(name: "ledger", message: "its version \(found) was never released")
        }
    }
}

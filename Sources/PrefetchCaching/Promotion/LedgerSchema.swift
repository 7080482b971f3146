internal import GRDB

/// The table of `ledger.sqlite`, and how older versions of it are migrated.
///
/// The ledger is durable: every version that was ever written is migrated, in one transaction, and a newer
/// one is refused and left alone.
enum LedgerSchema {
    /// The version of the schema, kept in `user_version`.
    static let version = migrations.count

    /// Each migration produces the next version: the first makes version 1 of an empty file.
    private static let migrations = [
        """
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
            openedAt INTEGER NOT NULL
        );
        """,
        // Version 1 had no folders, no plain name (empty means the same as the name) and no creation time.
        """
        ALTER TABLE promotion ADD COLUMN folder TEXT NOT NULL DEFAULT '';
        ALTER TABLE promotion ADD COLUMN plainName TEXT NOT NULL DEFAULT '';
        ALTER TABLE promotion ADD COLUMN birthTime INTEGER;
        """,
        // Version 2 did not record which files were adopted (0 means unknown).
        """
        ALTER TABLE promotion ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
        """,
        // Version 3 did not record where the content came from (without a time nothing is known).
        """
        ALTER TABLE promotion ADD COLUMN storedAt INTEGER;
        ALTER TABLE promotion ADD COLUMN source TEXT NOT NULL DEFAULT '';
        ALTER TABLE promotion ADD COLUMN intent INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE promotion ADD COLUMN entityTag TEXT NOT NULL DEFAULT '';
        ALTER TABLE promotion ADD COLUMN lastModified TEXT NOT NULL DEFAULT '';
        ALTER TABLE promotion ADD COLUMN url TEXT NOT NULL DEFAULT '';
        ALTER TABLE promotion ADD COLUMN attributes BLOB;
        """,
        // Version 4 had no bundles (without a value it is a single file), and did not replace files.
        """
        ALTER TABLE promotion ADD COLUMN parts BLOB;
        ALTER TABLE promotion ADD COLUMN successor BLOB;
        """,
        // Version 5 did not find promotions by the places of their files. Intents are not looked for, and cost no write. It
        // also had an index of keys beside its table: a page more for every promotion.
        """
        CREATE TABLE keyed (
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
        INSERT INTO keyed SELECT * FROM promotion;
        DROP TABLE promotion;
        ALTER TABLE keyed RENAME TO promotion;
        CREATE INDEX place ON promotion (name COLLATE NOCASE, folder COLLATE NOCASE) WHERE state = 2;
        """,
    ]

    /// - Throws: ``CacheError/newerLedger(version:)``; nothing was written in that case.
    static func bringUpToDate(_ database: Database) throws {
        guard try isOld(database) else { return }
        try database.inTransaction(.immediate) {
            // Another process may have been first.
            if try isOld(database) {
                for migration in migrations[try version(of: database)...] {
                    try database.execute(sql: migration)
                }
                try database.execute(sql: "PRAGMA user_version = \(version)")
            }
            return .commit
        }
    }

    /// - Throws: ``CacheError/newerLedger(version:)``.
    static func refuseNewer(_ database: Database) throws {
        _ = try isOld(database)
    }

    /// Whether there is anything for ``bringUpToDate(_:)`` to do.
    ///
    /// - Throws: ``CacheError/newerLedger(version:)``.
    static func isOld(_ database: Database) throws -> Bool {
        let found = try version(of: database)
        guard found <= version else { throw CacheError.newerLedger(version: found) }
        return found < version
    }

    private static func version(of database: Database) throws -> Int {
        max(0, try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0)
    }
}

internal import GRDB

/// The tables of `catalog.sqlite`.
///
/// The catalog is disposable: a file of any other version, older or newer, is replaced and filled from the
/// items, never migrated.
enum CatalogSchema {
    static let version = 8
}

extension CatalogTransaction {
    func createTables() throws {
        try database.execute(
            sql: """
                CREATE TABLE item (
                    hash BLOB NOT NULL PRIMARY KEY,
                    kind INTEGER NOT NULL,
                    key TEXT NOT NULL,
                    source TEXT NOT NULL,
                    intent INTEGER NOT NULL,
                    area INTEGER NOT NULL,
                    folder TEXT NOT NULL,
                    name TEXT NOT NULL,
                    backup INTEGER NOT NULL,
                    encoding INTEGER NOT NULL,
                    contentLength INTEGER NOT NULL,
                    storedLength INTEGER NOT NULL,
                    chargedLength INTEGER NOT NULL,
                    priority REAL NOT NULL,
                    storedAt INTEGER NOT NULL,
                    expiresAt INTEGER,
                    lastUse INTEGER NOT NULL,
                    uses INTEGER NOT NULL,
                    isVisited INTEGER NOT NULL
                );
                -- The order in which items are evicted.
                CREATE INDEX victim ON item (kind DESC, priority, lastUse);
                CREATE INDEX expiry ON item (expiresAt) WHERE expiresAt IS NOT NULL;

                -- The sums over all rows, kept by triggers, so that they cost nothing to read.
                CREATE TABLE total (
                    kind INTEGER NOT NULL PRIMARY KEY,
                    items INTEGER NOT NULL,
                    contentLength INTEGER NOT NULL,
                    storedLength INTEGER NOT NULL,
                    chargedLength INTEGER NOT NULL
                );
                INSERT INTO total VALUES
                    (-2, 0, 0, 0, 0), (-1, 0, 0, 0, 0), (0, 0, 0, 0, 0), (1, 0, 0, 0, 0), (2, 0, 0, 0, 0);
                CREATE TRIGGER itemInserted AFTER INSERT ON item BEGIN
                    UPDATE total SET items = items + 1,
                        contentLength = contentLength + NEW.contentLength,
                        storedLength = storedLength + NEW.storedLength,
                        chargedLength = chargedLength + NEW.chargedLength
                    WHERE kind = NEW.kind;
                END;
                CREATE TRIGGER itemDeleted AFTER DELETE ON item BEGIN
                    UPDATE total SET items = items - 1,
                        contentLength = contentLength - OLD.contentLength,
                        storedLength = storedLength - OLD.storedLength,
                        chargedLength = chargedLength - OLD.chargedLength
                    WHERE kind = OLD.kind;
                END;
                CREATE TRIGGER itemReplaced
                AFTER UPDATE OF kind, contentLength, storedLength, chargedLength ON item BEGIN
                    UPDATE total SET items = items - 1,
                        contentLength = contentLength - OLD.contentLength,
                        storedLength = storedLength - OLD.storedLength,
                        chargedLength = chargedLength - OLD.chargedLength
                    WHERE kind = OLD.kind;
                    UPDATE total SET items = items + 1,
                        contentLength = contentLength + NEW.contentLength,
                        storedLength = storedLength + NEW.storedLength,
                        chargedLength = chargedLength + NEW.chargedLength
                    WHERE kind = NEW.kind;
                END;

                -- Items that left unused: their keys may still be asked for.
                CREATE TABLE departed (
                    rowid INTEGER PRIMARY KEY,
                    hash BLOB NOT NULL UNIQUE,
                    source TEXT NOT NULL,
                    contentLength INTEGER NOT NULL,
                    storedAt INTEGER NOT NULL
                );
                -- Items that were refused for their worth, with the time. Apart, so that neither kind is forgotten for
                -- the other.
                CREATE TABLE declined (
                    rowid INTEGER PRIMARY KEY,
                    hash BLOB NOT NULL UNIQUE,
                    source TEXT NOT NULL,
                    time INTEGER NOT NULL
                );
                -- What each writer holds, free, reserved and stored without a row: part of what is charged.
                CREATE TABLE writer (
                    session TEXT NOT NULL PRIMARY KEY,
                    allowance INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE TABLE counter (
                    name TEXT NOT NULL PRIMARY KEY,
                    value INTEGER NOT NULL
                ) WITHOUT ROWID;
                -- What was made of the volume's free space last: growth and relief have hysteresis.
                CREATE TABLE volume (
                    budget INTEGER,
                    pressure TEXT NOT NULL
                );
                -- The boot in which the file was last written without being flushed to the device.
                CREATE TABLE unflushed (boot TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
                """)
        try database.execute(sql: "PRAGMA user_version = \(CatalogSchema.version)")
    }

    /// Whether a file is still empty.
    func isMissingTables() throws -> Bool { try version() == 0 && !database.tableExists("item") }

    /// The version of the file.
    func version() throws -> Int { try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0 }
}

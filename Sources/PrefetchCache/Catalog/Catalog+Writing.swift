internal import FileSystem
internal import GRDB
internal import ItemFormat

/// What is written in a transaction.
extension Catalog {
    func write(_ batch: PendingChanges, to database: Database) throws {
        var sequence = try Self.value(of: Counter.sequence.rawValue, in: database)
        let policy = policy()
        for (hash, change) in batch.ordered {
            switch change {
            case .stored(let row):
                sequence += 1
                // What another process has replaced meanwhile is its own to write; what it has removed
                // or evicted is no more.
                switch try lengthOnDisk(row) {
                case row.storedLength: try row.write(to: database, lastUse: sequence)
                case nil: try delete(hash, from: database)
                default: break
                }
            case .touched:
                try policy.noteUse(of: hash, &sequence, in: database)
            case .removed:
                // Another process may have stored the item anew; then the row is its own to write.
                if try files.storedLength(of: hash) == nil { try delete(hash, from: database) }
            }
        }
        try Self.add(batch.counters, in: database)
        try Self.setValue(of: Counter.sequence.rawValue, to: sequence, in: database)
        try changeAllowance(by: -batch.storedBytes, in: database)
    }

    private func delete(_ hash: KeyHash, from database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM item WHERE hash = ?").execute(
            arguments: [hash.data])
    }

    private func lengthOnDisk(_ row: CatalogRow) throws(FileSystemError) -> Int64? {
        // What was set aside nobody replaces or removes without a row.
        row.kind == .quarantined ? row.storedLength : try files.storedLength(of: row.hash)
    }

    static func value(of counter: String, in database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM counter WHERE name = ?"), arguments: [counter])
            ?? 0
    }

    static func setValue(of counter: String, to value: Int64, in database: Database) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO counter VALUES (?, ?)").execute(
            arguments: [counter, value])
    }

    static func add(_ counters: [String: Int64], in database: Database) throws {
        for (name, value) in counters {
            try database.cachedStatement(
                sql: """
                    INSERT INTO counter VALUES (?, ?)
                    ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
                    """
            ).execute(arguments: [name, value])
        }
    }

    /// Changes what this process may still store without asking.
    func changeAllowance(by bytes: Int64, in database: Database) throws {
        guard bytes != 0 else { return }
        try database.cachedStatement(
            sql: """
                INSERT INTO writer VALUES (?, MAX(?, 0))
                ON CONFLICT (session) DO UPDATE SET allowance = MAX(allowance + ?, 0)
                """
        ).execute(arguments: [environment.session, bytes, bytes])
    }

    /// Enters what this process holds into a file that may not know of it: after the old one was
    /// lost, whoever was first made a new one without the rows of the others.
    func setAllowance(_ bytes: Int64, in database: Database) throws {
        guard bytes > 0 else {
            return try database.execute(
                sql: "DELETE FROM writer WHERE session = ?", arguments: [environment.session])
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO writer VALUES (?, ?)", arguments: [environment.session, bytes])
    }
}

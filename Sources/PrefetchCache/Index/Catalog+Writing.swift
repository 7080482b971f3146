internal import GRDB

/// The statements of a transaction.
extension Catalog {
    func write(_ batch: PendingChanges, to database: Database) throws {
        var writing = try ChangeWriting(self, to: database)
        try writing.write(batch)
        try writing.finish()
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
        guard !counters.isEmpty else { return }
        let rows = repeatElement("(?, ?)", count: counters.count).joined(separator: ", ")
        var arguments = StatementArguments()
        for (name, value) in counters { arguments += [name, value] }
        try database.cachedStatement(
            sql: """
                INSERT INTO counter VALUES \(rows)
                ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
                """
        ).execute(arguments: arguments)
    }

    /// Changes what this process holds, see ``Allowance``.
    func changeAllowance(by bytes: Int64, in database: Database) throws {
        guard bytes != 0 else { return }
        try database.cachedStatement(
            sql: """
                INSERT INTO writer VALUES (?, MAX(?, 0))
                ON CONFLICT (session) DO UPDATE SET allowance = MAX(allowance + ?, 0)
                """
        ).execute(arguments: [environment.session, bytes, bytes])
    }

    /// Sets what this process holds, whatever its row said.
    func setAllowance(_ bytes: Int64, in database: Database) throws {
        guard bytes > 0 else {
            return try database.execute(
                sql: "DELETE FROM writer WHERE session = ?", arguments: [environment.session])
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO writer VALUES (?, ?)", arguments: [environment.session, bytes])
    }
}

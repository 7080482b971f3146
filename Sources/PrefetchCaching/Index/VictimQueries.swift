internal import GRDB
internal import PrefetchItemFormat

/// What may be evicted, in the orders of the policies, see ``Victim``.
extension CatalogTransaction {
    private static let victims =
        "SELECT hash, key, kind, chargedLength, priority, source, lastUse, storedAt, uses > 0 FROM item"

    private func victims(_ condition: String, _ arguments: StatementArguments) throws -> [Victim] {
        // A cursor reads the rows in place; an array of rows would copy them first.
        let rows = try Row.fetchCursor(
            database.cachedStatement(sql: "\(Self.victims) \(condition)"), arguments: arguments)
        var victims: [Victim] = []
        while let row = try rows.next() {
            if let victim = try Victim(row) { victims.append(victim) }
        }
        return victims
    }

    /// Files in the order of kind, priority and `lastUse`.
    func victimsInOrder(atMost limit: Int, passingOver passedOver: Set<KeyHash>) throws -> [Victim] {
        // Files that were passed over are still there, and precede everything else.
        try victims(
            "WHERE kind >= 0 ORDER BY kind DESC, priority, lastUse LIMIT ? OFFSET ?",
            [limit, passedOver.count])
    }

    /// Items and kept partials that have expired at `time`, in milliseconds since 1970.
    func expiredVictims(at time: Int64, atMost limit: Int, passingOver passedOver: Int) throws -> [Victim] {
        // The plus keeps SQLite from scanning all items through the index that begins with the kind.
        try victims(
            "WHERE +kind IN (0, 2) AND expiresAt <= ? ORDER BY expiresAt LIMIT ? OFFSET ?",
            [time, limit, passedOver])
    }

    /// Items in the order of priority and `lastUse`.
    ///
    /// - Parameters:
    ///   - source: Their source; `nil` for all.
    ///   - storedBefore: The time before which they were stored, in milliseconds since 1970; `nil` for all.
    func items(ofSource source: String?, storedBefore: Int64?) throws -> [Victim] {
        try victims(
            """
            WHERE kind = 0 AND (?1 IS NULL OR source = ?1) AND (?2 IS NULL OR storedAt < ?2)
            ORDER BY priority, lastUse
            """, [source, storedBefore])
    }

    func victim(_ hash: KeyHash) throws -> Victim? {
        try victims("WHERE hash = ? AND kind = 0", [hash.data]).first
    }

    /// The items of a source and priority after a position in the order of use.
    func items(
        ofSource source: String, priority: Double, after last: Int64, atMost limit: Int
    ) throws -> [Victim] {
        try victims(
            "WHERE kind = 0 AND priority = ? AND source = ? AND lastUse > ? ORDER BY lastUse LIMIT ?",
            [priority, source, last, limit])
    }

    /// The items of a priority after a position in the order of use.
    func items(ofPriority priority: Double, after last: Int64, atMost limit: Int) throws -> [Victim] {
        try victims(
            "WHERE kind = 0 AND priority = ? AND lastUse > ? ORDER BY lastUse LIMIT ?",
            [priority, last, limit])
    }

    /// Creates or drops the index for ``items(ofSource:priority:after:atMost:)``, which only one policy needs, so that the
    /// others do not pay for it with every row.
    func indexSources(_ isNeeded: Bool) throws {
        try database.execute(
            sql: isNeeded
                ? "CREATE INDEX IF NOT EXISTS ofSource ON item (priority, source, lastUse) WHERE kind = 0"
                : "DROP INDEX IF EXISTS ofSource")
    }

    /// The lowest priority of an item above `last`.
    func priority(above last: Double) throws -> Double? {
        try Double.fetchOne(
            database.cachedStatement(
                sql: "SELECT MIN(priority) FROM item WHERE kind = 0 AND priority > ?"), arguments: [last])
    }
}

extension Victim {
    /// - Returns: `nil` for a row of an unknown kind.
    fileprivate init?(_ row: Row) throws {
        guard let hash = KeyHash(data: try row.value(0)),
            let kind = CatalogRow.Kind(rawValue: try row.value(2))
        else { return nil }
        self.init(
            hash: hash, key: try row.value(1), kind: kind, chargedBytes: try row.value(3),
            priority: Float(try row.value(4, as: Double.self)), source: try row.value(5),
            lastUse: try row.value(6), storedAt: try row.value(7), isUsed: try row.value(8))
    }
}

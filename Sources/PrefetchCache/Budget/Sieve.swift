internal import GRDB
internal import ItemFormat

/// SIEVE (NSDI 2024): a hand moves from the oldest item to the newest, spares items that were used since it
/// last passed them, and evicts the first that was not. After the newest item it starts again.
///
/// The hand is a position in the order of storing, kept in the catalog. Items of different priorities form
/// different queues; the hand starts over when it enters another one.
struct Sieve: EvictionPolicy {
    /// The counter that holds the `lastUse` under the hand; 0 stands for the oldest item.
    private static let hand = "sieve.hand"

    func noteUse(of hash: KeyHash, _ sequence: inout Int64, in database: Database) throws {
        try database.cachedStatement(sql: "UPDATE item SET isVisited = 1 WHERE hash = ?").execute(
            arguments: [hash.data])
    }

    /// Returns one victim at a time: the hand must not move past items that then need not be evicted.
    func victims(atMost limit: Int, passingOver passedOver: Set<KeyHash>, in database: Database) throws
        -> [Victim]
    {
        let worthless = try Row.fetchCursor(
            database.cachedStatement(
                sql: Victim.select + "WHERE kind > 0 ORDER BY kind DESC, priority, lastUse"))
        while let row = try worthless.next() {
            if let victim = try Victim(row), !passedOver.contains(victim.hash) { return [victim] }
        }

        var last = -1.0
        while let priority = try Self.priority(above: last, in: database) {
            if let victim = try victim(ofPriority: priority, passingOver: passedOver, in: database) {
                return [victim]
            }
            last = priority
        }
        return []
    }

    private static func priority(above last: Double, in database: Database) throws -> Double? {
        try Double.fetchOne(
            database.cachedStatement(
                sql: "SELECT MIN(priority) FROM item WHERE kind = 0 AND priority > ?"),
            arguments: [last])
    }

    private func victim(
        ofPriority priority: Double, passingOver passedOver: Set<KeyHash>, in database: Database
    ) throws -> Victim? {
        var start = try Catalog.value(of: Self.hand, in: database)
        // From the hand to the newest, then all around, then once more now that every mark is cleared.
        for _ in 0..<3 {
            if let victim = try victim(
                from: start, ofPriority: priority, passingOver: passedOver, in: database)
            {
                return victim
            }
            start = 0
        }
        return nil
    }

    /// Moves from `start` towards the newest item, clears marks, and stops at the first unmarked item.
    private func victim(
        from start: Int64, ofPriority priority: Double, passingOver passedOver: Set<KeyHash>,
        in database: Database
    ) throws -> Victim? {
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT hash, key, kind, chargedLength, priority, lastUse, isVisited FROM item
                    WHERE kind = 0 AND priority = ? AND lastUse >= ? ORDER BY lastUse
                    """),
            arguments: [priority, start])
        var found: (victim: Victim, place: Int64)?
        while found == nil, let row = try rows.next() {
            guard let victim = try Victim(row), try row.value(6) == 0, !passedOver.contains(victim.hash)
            else { continue }
            found = (victim, try row.value(5))
        }
        try database.cachedStatement(
            sql: """
                UPDATE item SET isVisited = 0
                WHERE kind = 0 AND priority = ? AND lastUse >= ? AND lastUse < ? AND isVisited = 1
                """
        ).execute(arguments: [priority, start, found?.place ?? .max])
        guard let (victim, place) = found else { return nil }
        let next = try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT MIN(lastUse) FROM item WHERE kind = 0 AND priority = ? AND lastUse > ?"),
            arguments: [priority, place])
        try Catalog.setValue(of: Self.hand, to: next ?? 0, in: database)
        return victim
    }
}

internal import Foundation
internal import GRDB
internal import PrefetchItemFormat

/// An item that was refused because it is not worth its space.
struct Declined: Sendable {
    let source: String
    /// In milliseconds since 1970.
    let time: Int64
}

/// Rows of items that go, and what is remembered of those that left unused or were refused: their keys may still be asked
/// for.
extension CatalogTransaction {
    /// Deletes the row of a file that is gone.
    ///
    /// - Parameter reason: Why an item is gone.
    func deleteRow(_ hash: KeyHash, because reason: Departure = .purged) throws {
        try deleteRows([hash], because: reason)
    }

    /// Deletes the rows of files that are gone: by one statement, however many they are.
    func deleteRows(_ hashes: [KeyHash], because reason: Departure) throws {
        guard !hashes.isEmpty else { return }
        let listed = hashes.count == 1 ? "WITH listed(hash) AS (SELECT ?1)" : Self.list
        let list: StatementArguments = [Data(hashes.lazy.flatMap(\.bytes))]
        if isRemembered(reason) {
            // Both in the order in which they have left, which is not that of the rows.
            try change(
                """
                \(listed) \(Self.remembering) SELECT hash, source, contentLength, storedAt
                FROM listed CROSS JOIN item USING (hash) WHERE kind = 0 AND uses = 0
                """, list)
            if database.changesCount > 0 { try forgetEarliestDeparted() }
        }
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: "\(listed) DELETE FROM item WHERE hash IN listed RETURNING \(Departing.columns), hash"),
            arguments: list)
        var departing: [Data: Departing] = [:]
        while let row = try rows.next() {
            departing[try row.value(Departing.columnCount)] = try Departing(row)
        }
        for hash in hashes.map(\.data) {
            guard let row = departing[hash], row.kind == .item else { continue }
            changes.note(row.leaving(reason))
        }
    }

    /// The table `listed` of the hashes that follow each other in the first argument.
    private static let list = """
        WITH RECURSIVE place(start) AS (
            SELECT 1 UNION ALL SELECT start + 16 FROM place WHERE start + 16 < length(?1)
        ), listed(hash) AS (SELECT substr(?1, start, 16) FROM place)
        """

    private static let remembering =
        "INSERT OR REPLACE INTO departed (hash, source, contentLength, storedAt)"

    /// Whether an item that has left unused is remembered.
    private func isRemembered(_ reason: Departure) -> Bool {
        reason != .opened && reason != .replaced && !changes.isRebuilding
    }

    /// Notes what happened to an item, and remembers one that has left unused.
    ///
    /// - Parameter hash: That of the item; `nil` if the event says nothing about one.
    func note(_ event: UsageEvent, of hash: KeyHash?) throws {
        changes.note(event)
        guard let hash, case .left(let reason, wasUsed: false) = event.kind, isRemembered(reason) else {
            return
        }
        try change(
            "\(Self.remembering) VALUES (?, ?, ?, ?)",
            [hash.data, event.source, event.contentBytes, event.storedAt ?? 0])
        try forgetEarliestDeparted()
    }

    /// Must follow an insertion into `departed`, since it uses `last_insert_rowid()`.
    private func forgetEarliestDeparted() throws {
        try change(
            """
            DELETE FROM departed WHERE rowid <= last_insert_rowid()
                - MAX(\(Self.departed.lowerBound), MIN(\(Self.departed.upperBound),
                    (SELECT items FROM total WHERE kind = 0)))
            """, [])
    }

    /// How many items that left unused are remembered, so that a later open of one is known for what it is: as many as
    /// are cached, within these bounds. Each takes about 100 bytes of the catalog.
    private static var departed: ClosedRange<Int64> { 100...2000 }

    /// How many declined items, and others that were missed, are remembered: the last ones.
    private static var declined: Int64 { 2000 }

    /// Remembers an item that was refused for its worth. Each is counted once as long as it is remembered.
    func noteDeclined(_ key: ItemKey, _ item: Declined) throws {
        let isKnown = try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM declined WHERE hash = ? AND time <> 0"),
            arguments: [key.hash.data])
        guard isKnown == nil else { return }
        try remember(key, item)
        changes.note(
            UsageEvent(kind: .declined, key: key.string, source: item.source, storedAt: item.time))
    }

    /// - Parameter item: With the time 0 for one that was missed.
    private func remember(_ key: ItemKey, _ item: Declined) throws {
        try change(
            "INSERT OR REPLACE INTO declined (hash, source, time) VALUES (?, ?, ?)",
            [key.hash.data, item.source, item.time])
        try change("DELETE FROM declined WHERE rowid <= last_insert_rowid() - ?", [Self.declined])
    }

    /// Notes that an item was looked for and not found so many times.
    func noteMissed(_ key: ItemKey, count: Int64) throws {
        func fetch(_ sql: String) throws -> Row? {
            try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [key.hash.data])
        }
        let departed = try fetch(
            "DELETE FROM departed WHERE hash = ? RETURNING source, storedAt, contentLength")
        let row = try departed ?? fetch("SELECT source, time FROM declined WHERE hash = ?")
        let source: String = try row?.value(0) ?? ""
        let storedAt: Int64? = try row?.value(1)
        changes.note(
            UsageEvent(
                kind: .missed(count: count, wasStored: departed != nil), key: key.string, source: source,
                contentBytes: try departed?.value(2) ?? 0, storedAt: storedAt == 0 ? nil : storedAt))
        // The next miss is one of the same source, but no first one: it has neither a size nor a time.
        if row != nil { try remember(key, Declined(source: source, time: 0)) }
    }

    /// The hashes of the items that are remembered as stored and left unused, at most 2000.
    func departed() throws -> Set<KeyHash> {
        let hashes = try Data.fetchAll(database.cachedStatement(sql: "SELECT hash FROM departed"))
        return Set(hashes.compactMap(KeyHash.init(data:)))
    }

    /// Deletes rows whose hash is damaged: no file belongs to them.
    func deleteRowsWithoutHash() throws {
        try database.execute(sql: "DELETE FROM item WHERE length(hash) IS NOT 16")
    }
}

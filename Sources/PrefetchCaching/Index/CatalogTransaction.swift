internal import Foundation
internal import GRDB
internal import PrefetchItemFormat
internal import PrefetchVolumeCapacity

/// One transaction of the catalog: all queries and changes of its tables; those that choose victims are in a file of their
/// own. Other SQL for them is only in the queries of ``CatalogView`` and in ``CatalogSchema``.
///
/// Created by ``CatalogFile``, and valid only during the transaction.
struct CatalogTransaction {
    let database: Database
    let changes = RowChanges()

    init(_ database: Database) {
        self.database = database
    }

    /// The rows that were changed through this connection since it was opened.
    var changeCount: Int { database.totalChangesCount }

    func integer(_ sql: String, _ arguments: StatementArguments? = nil) throws -> Int64? {
        try Int64.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
    }

    func change(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

/// What one transaction changes about the items, for the figures: an item arrives with its row, and leaves with it, so
/// that all processes together count each once.
final class RowChanges {
    private(set) var events: [UsageEvent] = []
    /// Whether the rows of items are being found again rather than written for the first time.
    var isRebuilding = false

    func note(_ event: UsageEvent) {
        if !isRebuilding { events.append(event) }
    }

    /// Corrects the reasons of items that were found gone.
    func explain(_ whyGone: (KeyHash) -> Departure?) {
        for (index, event) in events.enumerated() {
            guard case .left(.purged, let wasUsed) = event.kind, let key = ItemKey(inRow: event.key),
                let reason = whyGone(key.hash)
            else { continue }
            events[index].kind = .left(reason, wasUsed: wasUsed)
        }
    }

    /// Drops what was noted after `count` events, since it was recorded before.
    func forget(after count: Int) { events.removeLast(events.count - count) }
}

/// The sums that are compared with the budget.
extension CatalogTransaction {
    /// Charged bytes of all files that have a row.
    func itemBytes() throws -> Int64 { try integer("SELECT SUM(chargedLength) FROM total") ?? 0 }

    /// Charged bytes of the items of one source.
    func itemBytes(of source: String) throws -> Int64 {
        try integer("SELECT SUM(chargedLength) FROM item WHERE kind = 0 AND source = ?", [source]) ?? 0
    }

    /// Charged bytes of all files that may be evicted.
    func evictableBytes() throws -> Int64 {
        try integer("SELECT SUM(chargedLength) FROM total WHERE kind >= 0") ?? 0
    }

    /// The number of files that may be evicted.
    func evictableFiles() throws -> Int64 {
        try integer("SELECT SUM(items) FROM total WHERE kind >= 0") ?? 0
    }

    /// Bytes that all processes hold for items under way, and in advance.
    func heldBytes() throws -> Int64 {
        try integer("SELECT IFNULL(SUM(allowance), 0) FROM writer") ?? 0
    }

    /// The length of the catalog itself in bytes.
    func catalogBytes() throws -> Int64 {
        try (integer("PRAGMA page_count") ?? 0) * (integer("PRAGMA page_size") ?? 0)
    }

    /// All bytes that count against the budget: files, what processes hold, and the catalog itself.
    func usedBytes() throws -> Int64 { try itemBytes() + heldBytes() + catalogBytes() }

    /// Fewer free pages than this are kept for new rows.
    private static var leastFreePages: Int64 { 64 }

    /// Releases the free pages of the file, which are charged like all others, when they exceed a quarter of all pages.
    ///
    /// Deleted rows leave pages that the next rows reuse, and no other transaction moves pages.
    func shrinkWhereMuchIsFree() throws {
        let pages = try integer("PRAGMA page_count") ?? 0
        let free = try integer("PRAGMA freelist_count") ?? 0
        guard free >= Self.leastFreePages, free > pages / 4 else { return }
        // Each step of the statement releases one page.
        try Row.fetchCursor(database, sql: "PRAGMA incremental_vacuum").forEach { _ in }
    }
}

/// Rows.
extension CatalogTransaction {
    /// Writes the row of a file.
    ///
    /// - Parameters:
    ///   - lastUse: Its position in the order of use.
    ///   - reason: Why an item whose row it replaces is gone.
    func write(_ row: CatalogRow, lastUse: Int64, because reason: Departure = .replaced) throws {
        try insert(row, lastUse: lastUse)
        if database.changesCount == 0 {
            let known = try departing(row.hash)
            try change("DELETE FROM item WHERE hash = ?", [row.hash.data])
            try insert(
                row, lastUse: lastUse, uses: known.flatMap { row.isVersion(of: $0) ? $0.uses : 0 } ?? 0)
            // Written again after a failure, or found by a reconciler first.
            if let known, row.isVersion(of: known) { return }
            if let known { try note(known.leaving(reason), of: row.hash) }
        }
        if row.kind == .item { changes.note(row.storing) }
    }

    /// Inserts a row unless there is one with its hash.
    private func insert(_ row: CatalogRow, lastUse: Int64, uses: Int64 = 0) throws {
        let metadata = row.metadata
        try change(
            """
            INSERT INTO item (hash, kind, key, source, intent, area, name, backup, encoding, contentLength,
                storedLength, chargedLength, priority, storedAt, expiresAt, lastUse, folder, uses, isVisited)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
            ON CONFLICT (hash) DO NOTHING
            """,
            [
                row.hash.data, row.kind.rawValue, row.key, metadata?.source ?? "",
                Int((metadata?.intent ?? .opportunistic).rawValue),
                Int((metadata?.destination?.area ?? .applicationSupport).rawValue),
                // Empty for an item without a destination.
                metadata?.destination?.name.string ?? "",
                Int((metadata?.destination?.backup ?? .include).rawValue), Int(row.encoding.rawValue),
                row.contentBytes, row.storedBytes, row.chargedBytes, Double(metadata?.priority ?? 0),
                metadata?.storedAt ?? 0, metadata?.expiresAt, lastUse,
                metadata?.destination?.folder?.string ?? "", uses,
            ])
    }

    /// The row of an item that is about to change or go, as far as the figures need it.
    struct Departing {
        let key: String
        let source: String
        let contentBytes: Int64
        let chargedBytes: Int64
        let storedAt: Int64
        let uses: Int64
        let kind: CatalogRow.Kind?

        static let columns = "key, source, contentLength, chargedLength, storedAt, uses, kind"
        static let columnCount = columns.split(separator: ",").count

        init(_ row: Row) throws {
            key = try row.value(0)
            source = try row.value(1)
            contentBytes = try row.value(2)
            chargedBytes = try row.value(3)
            storedAt = try row.value(4)
            uses = try row.value(5)
            kind = CatalogRow.Kind(rawValue: try row.value(6))
        }

        func event(_ kind: UsageEvent.Kind) -> UsageEvent {
            UsageEvent(
                kind: kind, key: key, source: source, contentBytes: contentBytes, chargedBytes: chargedBytes,
                storedAt: storedAt)
        }

        func leaving(_ reason: Departure) -> UsageEvent { event(.left(reason, wasUsed: uses > 0)) }
    }

    private func departing(_ hash: KeyHash) throws -> Departing? {
        try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT \(Departing.columns) FROM item WHERE hash = ? AND kind = 0"),
            arguments: [hash.data]
        ).map(Departing.init)
    }

    /// Whether an item has a row, rather than another one of its key.
    func isRecorded(_ row: CatalogRow) throws -> Bool { try departing(row.hash).map(row.isVersion) ?? false }

    /// Notes that an item was used so many times.
    ///
    /// - Parameter lastUse: Its new position in the order of use; `nil` to leave it.
    func noteUses(_ count: Int64, of hash: KeyHash, lastUse: Int64?) throws {
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    UPDATE item SET uses = uses + ?1, lastUse = IFNULL(?2, lastUse)
                    WHERE hash = ?3 RETURNING \(Departing.columns)
                    """),
            arguments: [count, lastUse, hash.data]
        ).map(Departing.init)
        changes.note(
            row?.event(.read(count: count, isFirst: row?.uses == count))
                ?? UsageEvent(kind: .read(count: count, isFirst: false)))
    }

    /// Whether there is a row of a kept partial.
    func hasPartials() throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT items > 0 FROM total WHERE kind = 2")) ?? false
    }

    /// The charged bytes of a key's kept partial, or `nil` when there is no row for it.
    func chargedBytes(ofPartial hash: KeyHash) throws -> Int64? {
        try integer("SELECT chargedLength FROM item WHERE hash = ? AND kind = 2", [hash.ofPartial.data])
    }

    func deletePartial(_ hash: KeyHash) throws {
        try change("DELETE FROM item WHERE hash = ? AND kind = 2", [hash.ofPartial.data])
    }

    /// The position of the item that was used last.
    func lastUse() throws -> Int64 { try value(of: Self.sequence) }

    func setLastUse(_ lastUse: Int64) throws { try setValue(of: Self.sequence, to: lastUse) }

    /// The counter that holds the last number of the order of use.
    private static let sequence = "sequence"
}

/// Counters, and what the cache remembers of its volume.
extension CatalogTransaction {
    func value(of counter: String) throws -> Int64 {
        try integer("SELECT value FROM counter WHERE name = ?", [counter]) ?? 0
    }

    func setValue(of counter: String, to value: Int64) throws {
        try change("INSERT OR REPLACE INTO counter VALUES (?, ?)", [counter, value])
    }

    func rememberedVolume() throws -> RememberedVolume? {
        try Row.fetchOne(database.cachedStatement(sql: "SELECT budget, pressure FROM volume")).map { row in
            RememberedVolume(
                budget: try row.value(0), pressure: Pressure(rawValue: try row.value(1)) ?? .normal)
        }
    }

    func remember(_ volume: RememberedVolume) throws {
        try database.execute(sql: "DELETE FROM volume")
        try database.execute(
            sql: "INSERT INTO volume VALUES (?, ?)", arguments: [volume.budget, volume.pressure.rawValue])
    }

    func forgetBudget() throws { try database.execute(sql: "UPDATE volume SET budget = NULL") }
}

/// The outcome of the last measurement of the volume.
struct RememberedVolume: Equatable {
    /// The automatic budget in force; `nil` under a fixed one.
    let budget: Int64?
    let pressure: Pressure
}

/// Writers, by their sessions, and what each holds: see ``Allowance``.
extension CatalogTransaction {
    func changeAllowance(of session: String, by bytes: Int64) throws {
        guard bytes != 0 else { return }
        try change(
            """
            INSERT INTO writer VALUES (?, MAX(?, 0))
            ON CONFLICT (session) DO UPDATE SET allowance = MAX(allowance + ?, 0)
            """, [session, bytes, bytes])
    }

    /// Sets what a writer holds, whatever its row said.
    func setAllowance(of session: String, to bytes: Int64) throws {
        guard bytes > 0 else { return try deleteWriter(session) }
        try database.execute(
            sql: "INSERT OR REPLACE INTO writer VALUES (?, ?)", arguments: [session, bytes])
    }

    func addWriterIfMissing(_ session: String, holding bytes: Int64 = 0) throws {
        try database.execute(sql: "INSERT OR IGNORE INTO writer VALUES (?, ?)", arguments: [session, bytes])
    }

    func deleteWriter(_ session: String) throws {
        try database.execute(sql: "DELETE FROM writer WHERE session = ?", arguments: [session])
    }

    func writers() throws -> [String] { try String.fetchAll(database, sql: "SELECT session FROM writer") }
}

/// The mark of a file that was written and not flushed to the device, see ``CatalogFile``.
extension CatalogTransaction {
    /// The boots in which the file was written without being flushed to the device: one, or none.
    func marks() throws -> [String] {
        try String.fetchAll(database.cachedStatement(sql: "SELECT boot FROM unflushed"))
    }

    func mark(boot: String) throws {
        try database.execute(sql: "INSERT OR IGNORE INTO unflushed VALUES (?)", arguments: [boot])
    }

    func removeMark() throws { try database.execute(sql: "DELETE FROM unflushed") }
}

/// Reconciling the rows with the files, and the sums with the rows.
extension CatalogTransaction {
    /// Numbers all items by the time at which they were stored.
    func renumber() throws {
        try database.execute(
            sql: """
                UPDATE item SET lastUse = numbered.position
                FROM (
                    SELECT hash, row_number() OVER (ORDER BY storedAt, lastUse) AS position FROM item
                ) AS numbered
                WHERE item.hash = numbered.hash
                """)
        try setLastUse(integer("SELECT IFNULL(MAX(lastUse), 0) FROM item") ?? 0)
    }

    /// The counter that holds the block size that the rows were charged with.
    private static let blockSizeRow = "blockSize"

    func blockSize() throws -> Int64 { try value(of: Self.blockSizeRow) }

    func setBlockSize(_ blockSize: Int64) throws { try setValue(of: Self.blockSizeRow, to: blockSize) }

    /// Charges all items for blocks of another size. Their order stays.
    func recharge(blockSize: Int64) throws {
        // As ``ChargedLength`` computes it. The plus keeps SQLite from looking up each row through an index.
        let charge = "(storedLength + ?1 - 1) / ?1 * ?1 + \(ChargedLength.overhead)"
        try database.execute(
            sql: """
                UPDATE item SET chargedLength = \(charge)
                WHERE +kind IN (-1, 0, 1) AND chargedLength <> \(charge)
                """, arguments: [blockSize])
    }

    /// The sums as they should be, of each kind that has rows.
    private static let sums = """
        SELECT kind, COUNT(*), SUM(contentLength), SUM(storedLength), SUM(chargedLength) FROM item GROUP BY kind
        """
    private static let values = "(items, contentLength, storedLength, chargedLength)"

    func hasWrongSums() throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT * FROM (\(Self.sums)) EXCEPT SELECT * FROM total)
                    OR EXISTS (SELECT * FROM total WHERE \(Self.values) <> (0, 0, 0, 0) EXCEPT \(Self.sums))
                """) == true
    }

    /// Computes the sums from the rows.
    func recount() throws {
        try database.execute(
            sql: "UPDATE total SET \(Self.values) = (0, 0, 0, 0); INSERT OR REPLACE INTO total \(Self.sums)")
    }
}

extension CatalogRow {
    /// Whether a row is of the same item, stored at the same time.
    fileprivate func isVersion(of known: CatalogTransaction.Departing) -> Bool {
        kind == .item && known.kind == .item && metadata?.storedAt == known.storedAt
    }

    var storing: UsageEvent { event(.stored(fileBytes: storedBytes)) }

    func event(_ kind: UsageEvent.Kind) -> UsageEvent {
        UsageEvent(
            kind: kind, key: key, source: metadata?.source ?? "", contentBytes: contentBytes,
            chargedBytes: chargedBytes, storedAt: metadata?.storedAt)
    }
}

internal import GRDB
internal import ItemFormat

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A file that may be evicted.
struct Victim: Sendable {
    let hash: KeyHash
    let key: String
    let kind: CatalogRow.Kind
    /// Charged bytes, which eviction frees.
    let chargedLength: Int64
    let priority: Float

    var itemKey: ItemKey? {
        do { return try ItemKey(key) } catch { return nil }
    }
}

extension Victim {
    static let select = "SELECT hash, key, kind, chargedLength, priority FROM item "

    /// - Returns: `nil` for a row of a kind that is not known here.
    init?(_ row: Row) throws {
        guard let hash = KeyHash(data: try row.value(0)),
            let kind = CatalogRow.Kind(rawValue: try row.value(2))
        else { return nil }
        self.init(
            hash: hash, key: try row.value(1), kind: kind, chargedLength: try row.value(3),
            priority: Float(try row.value(4, as: Double.self)))
    }

    /// Files in the order of kind, priority and `lastUse`.
    static func inOrder(
        atMost limit: Int, passingOver passedOver: Set<KeyHash>, in database: Database
    ) throws -> [Victim] {
        // Files that were passed over are still there, and precede everything else.
        try fetch(
            "WHERE kind >= 0 ORDER BY kind DESC, priority, lastUse LIMIT ? OFFSET ?",
            [limit, passedOver.count], in: database)
    }

    /// Items and kept partials that have expired at `time`, in milliseconds since 1970.
    static func expired(
        at time: Int64, atMost limit: Int, passingOver passedOver: Int, in database: Database
    ) throws -> [Victim] {
        // The + keeps SQLite from scanning all items through the index that begins with the kind.
        try fetch(
            "WHERE +kind IN (0, 2) AND expiresAt <= ? ORDER BY expiresAt LIMIT ? OFFSET ?",
            [time, limit, passedOver], in: database)
    }

    /// The items that a request selects, in the order of priority and `lastUse`.
    static func chosen(by request: EvictionRequest, in database: Database) throws -> [Victim] {
        try fetch(
            """
            WHERE kind = 0 AND (?1 IS NULL OR source = ?1) AND (?2 IS NULL OR storedAt < ?2)
            ORDER BY priority, lastUse
            """, [request.source, request.storedBefore], in: database)
    }

    private static func fetch(
        _ condition: String, _ arguments: StatementArguments, in database: Database
    ) throws -> [Victim] {
        // A cursor reads the rows in place; an array of rows would copy them first.
        let rows = try Row.fetchCursor(
            database.cachedStatement(sql: select + condition), arguments: arguments)
        var victims: [Victim] = []
        while let row = try rows.next() {
            if let victim = try Victim(row) { victims.append(victim) }
        }
        return victims
    }
}

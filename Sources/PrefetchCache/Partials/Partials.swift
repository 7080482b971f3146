internal import GRDB
internal import ItemFormat

/// The rows of kept partials in the catalog.
enum Partials {
    static func areKept(_ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT items > 0 FROM total WHERE kind = 2")) ?? false
    }

    /// The charged bytes of a key's partial, or `nil` when there is no row for it.
    static func chargedLength(_ hash: KeyHash, in database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT chargedLength FROM item WHERE hash = ? AND kind = 2"),
            arguments: [hash.ofPartial.data])
    }

    static func delete(_ hash: KeyHash, from database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM item WHERE hash = ? AND kind = 2").execute(
            arguments: [hash.ofPartial.data])
    }
}

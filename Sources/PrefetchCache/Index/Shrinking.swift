internal import GRDB

/// Shortens the file of the catalog, whose free pages are charged like all others.
///
/// Deleted rows leave pages that the next rows reuse, and no other transaction moves pages. Free pages are
/// released only when there are many.
enum Shrinking {
    /// Fewer free pages than this are left to the next rows.
    private static let least: Int64 = 64

    /// Releases the free pages when they are more than a quarter of all.
    static func shrinkWhereMuchIsFree(_ database: Database) throws {
        let pages = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA page_count")) ?? 0
        let free = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0
        guard free >= least, free > pages / 4 else { return }
        // Each step of the statement releases one page.
        try Row.fetchCursor(database, sql: "PRAGMA incremental_vacuum").forEach { _ in }
    }
}

internal import GRDB

/// Makes the file of the catalog shorter, whose free pages are charged like all others.
///
/// Rows that go leave pages that the next rows take, and no other transaction moves any. Only when much is
/// free is it given back.
enum Shrinking {
    /// Fewer are left to the next rows.
    private static let least: Int64 = 64

    /// Gives the free pages back when there are more than a quarter of all.
    static func shrinkWhereMuchIsFree(_ database: Database) throws {
        let pages = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA page_count")) ?? 0
        let free = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0
        guard free >= least, free > pages / 4 else { return }
        // Each page is a step of the statement.
        try Row.fetchCursor(database, sql: "PRAGMA incremental_vacuum").forEach { _ in }
    }
}

internal import GRDB

/// Keeps a catalog that grows within the budget.
///
/// The bytes of a stored item are held before its row is written, and those of the row are not: how many
/// pages it takes is known when it is written. So a transaction that has made the file longer makes
/// room for that before it ends.
struct Growth {
    private let database: Database
    private let catalogBytes: Int64
    private let usedBytes: Int64

    /// - Parameter database: Before anything is written.
    init(of database: Database) throws {
        self.database = database
        catalogBytes = try Admission.catalogBytes(database)
        usedBytes = try Admission.usedBytes(database)
    }

    /// Evicts for the pages that were added.
    ///
    /// - Returns: Whether the file may stay as long as it is. When more was charged than the ceiling
    ///   already before, since that has become lower, it may.
    func fit(below ceiling: (Database) -> Int64?, evicting evictor: Evictor) throws -> Bool {
        guard try Admission.catalogBytes(database) > catalogBytes, let ceiling = ceiling(database)
        else { return true }
        let limit = max(ceiling, usedBytes)
        while true {
            let excess = try Admission.usedBytes(database) - limit
            guard excess > 0 else { return true }
            let freed = try evictor.evict(atLeast: excess, from: database)
            guard freed > 0 else { return usedBytes > ceiling }
        }
    }
}

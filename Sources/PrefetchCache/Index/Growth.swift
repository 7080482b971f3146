internal import GRDB

/// Keeps a growing catalog within the budget.
///
/// The bytes of a stored item are held before its row is written, but those of the row are not: how many
/// pages it takes is known only when it is written. So a transaction that has extended the file makes room
/// for that before it ends.
struct Growth {
    private let database: Database
    private let catalogBytes: Int64
    private let usedBytes: Int64

    /// - Parameter database: The database before anything is written.
    init(of database: Database) throws {
        self.database = database
        catalogBytes = try Admission.catalogBytes(database)
        usedBytes = try Admission.usedBytes(database)
    }

    /// Evicts for the pages that were added.
    ///
    /// - Returns: Whether the file may keep its length. It also may when more than the ceiling was charged
    ///   beforehand, because the ceiling has become lower.
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

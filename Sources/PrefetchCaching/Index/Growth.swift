/// What a use changes in the row of an item.
enum EffectOfUse: Sendable {
    case none
    /// The item moves to the end of the order of use.
    case movesItem
    /// The item is marked as visited.
    case marksItem
}

/// Keeps a growing catalog within the budget.
///
/// The bytes of a stored item are held before its row is written, but those of the row are not: how many pages it takes
/// is known only when it is written. So a transaction that has extended the file makes room for the new pages before it
/// ends.
struct Growth {
    private let transaction: CatalogTransaction
    private let catalogBytes: Int64
    private let usedBytes: Int64

    /// - Parameter transaction: The transaction before anything is written.
    init(of transaction: CatalogTransaction) throws {
        self.transaction = transaction
        catalogBytes = try transaction.catalogBytes()
        usedBytes = try transaction.usedBytes()
    }

    /// Evicts for the pages that were added.
    ///
    /// - Returns: Whether the file may keep its length. It also may when the ceiling was already exceeded before,
    ///   because it was lowered.
    func fit(into budget: Evictor) throws -> Bool {
        guard try transaction.catalogBytes() > catalogBytes, let ceiling = budget.ceiling(transaction)
        else { return true }
        let limit = max(ceiling, usedBytes)
        while true {
            let excess = try transaction.usedBytes() - limit
            guard excess > 0 else { return true }
            let freed = try budget.evict(atLeast: excess, because: .budget, from: transaction)
            guard freed > 0 else { return usedBytes > ceiling }
        }
    }
}

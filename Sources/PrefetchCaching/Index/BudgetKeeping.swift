internal import PrefetchItemFormat

/// What the catalog needs from the budget: the catalog depends on nothing else of it.
protocol BudgetKeeping: Sendable {
    /// Makes sure that the tables are as the policy in force needs them.
    func prepare(_ transaction: CatalogTransaction) throws

    /// The most that all files may be charged now, in bytes, or `nil` if unknown.
    func ceiling(_ transaction: CatalogTransaction) -> Int64?

    /// Evicts for the budget until at least `bytes` charged bytes were freed, or nothing more can be evicted.
    ///
    /// - Returns: The bytes that were freed.
    func evict(atLeast bytes: Int64, from transaction: CatalogTransaction) throws -> Int64

    /// Unlinks a few of the least recently used items, and leaves their rows to the next transaction.
    ///
    /// - Returns: The items that were unlinked.
    func unlinkLeastRecentlyUsed(from transaction: CatalogTransaction) throws -> [KeyHash]

    /// Sends the events of evictions. Called after the transaction, whether it succeeded or not: the files are gone.
    func reportEvictions()
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
    func fit(into budget: any BudgetKeeping) throws -> Bool {
        guard try transaction.catalogBytes() > catalogBytes, let ceiling = budget.ceiling(transaction)
        else { return true }
        let limit = max(ceiling, usedBytes)
        while true {
            let excess = try transaction.usedBytes() - limit
            guard excess > 0 else { return true }
            let freed = try budget.evict(atLeast: excess, from: transaction)
            guard freed > 0 else { return usedBytes > ceiling }
        }
    }
}

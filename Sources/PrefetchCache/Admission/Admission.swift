internal import GRDB
internal import Synchronization

/// Decides whether there is room, before a byte is written.
///
/// What is charged never exceeds the budget: the sum over all items, what every living process holds
/// as its ``Allowance``, and the new request are compared with it in one transaction.
final class Admission: Sendable {
    private let catalog: Catalog
    private let evictor: Evictor
    private let configuration: ConfigurationFile
    private let grants = Atomic<Int>(0)

    init(catalog: Catalog, evictor: Evictor, configuration: ConfigurationFile) {
        self.catalog = catalog
        self.evictor = evictor
        self.configuration = configuration
    }

    /// Reserves `bytes` of the budget, evicting the least recently used items when that is needed.
    ///
    /// - Parameter total: What the item needs in all, with what was reserved for it before.
    /// - Returns: `nil` when the bytes are reserved.
    /// - Complexity: O(1) in memory as long as the allowance lasts; else one transaction.
    func reserve(_ bytes: Int64, ofItem total: Int64) throws(CacheError) -> Refusal? {
        if catalog.inMemory({ $0.allowance.reserve(bytes) }) { return nil }

        let budget = try configuration.current().effectiveBudget
        guard total <= budget else {
            return .largerThanLargestItem(needed: total, largest: budget)
        }
        let step = nextStep(budget: budget)
        let grant: Int64? = try givingUpAllowance { database in
            var room = try makeRoom(for: bytes, in: budget, database)
            if room < bytes, try catalog.settleDeadWriters(database) {
                room = try makeRoom(for: bytes, in: budget, database)
            }
            guard room >= bytes else { return nil }
            let grant = min(max(bytes, step), room)
            try catalog.changeAllowance(by: grant, in: database)
            return grant
        }
        evictor.report()
        guard let grant else { return .overBudget(needed: bytes, budget: budget) }
        catalog.inMemory { $0.allowance.add(grant, reserving: bytes) }
        return nil
    }

    /// Evicts until `bytes` fit into the budget, as far as that is possible.
    /// - Returns: What is free of the budget.
    private func makeRoom(for bytes: Int64, in budget: Int64, _ database: Database) throws -> Int64 {
        let used = try Self.chargedBytes(database)
        let evictable =
            try Int64.fetchOne(database, sql: "SELECT SUM(chargedLength) FROM total WHERE kind >= 0") ?? 0
        // What cannot be made to fit must not cost the others their place.
        guard used - evictable + bytes <= budget else { return budget - used }
        let freed = try evictor.evict(atLeast: used + bytes - budget, from: database)
        return budget - (used - freed)
    }

    func release(_ bytes: Int64) {
        catalog.inMemory { $0.allowance.release(bytes) }
    }

    /// Gives the unused allowance back to the other processes.
    func relinquish() throws(CacheError) {
        try givingUpAllowance { _ in }
    }

    /// Runs a transaction in which what this process holds unused is free for all.
    private func givingUpAllowance<Result>(_ body: (Database) throws -> Result) throws(CacheError) -> Result {
        var unused: Int64 = 0
        do {
            return try catalog.transaction { database in
                unused = catalog.inMemory { $0.allowance.giveUp() }
                try catalog.changeAllowance(by: -unused, in: database)
                return try body(database)
            }
        } catch {
            catalog.inMemory { $0.allowance.add(unused, reserving: 0) }
            throw error
        }
    }

    /// Evicts down to the budget, after it was made smaller.
    func trimToBudget() throws(CacheError) {
        let budget = try configuration.current().effectiveBudget
        try catalog.transaction { database in
            _ = try evictor.evict(atLeast: try Self.chargedBytes(database) - budget, from: database)
        }
        evictor.report()
    }

    /// All that counts against the budget.
    static func chargedBytes(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database,
            sql: """
                SELECT (SELECT SUM(chargedLength) FROM total) + (SELECT IFNULL(SUM(allowance), 0) FROM writer)
                """) ?? 0
    }

    /// How much to take at once. A process that stores one item takes what that needs; one that
    /// stores many takes twice as much every time, up to 1/64 of the budget or 4 MiB, so that the
    /// others are not starved and nothing is evicted much before its time.
    private func nextStep(budget: Int64) -> Int64 {
        let grants = grants.wrappingAdd(1, ordering: .relaxed).oldValue
        guard grants > 0 else { return 0 }
        return min(Int64(64 << 10) << min(grants, 6), budget / 64)
    }
}

internal import FileSystem
internal import GRDB
internal import Logging
internal import Synchronization
internal import VolumeCapacity

/// Decides whether there is room, before a byte is written.
///
/// What is charged never exceeds the budget: the sum over all items, the catalog, what every living
/// process holds as its ``Allowance``, and the new request are compared with it in one transaction.
final class Admission: Sendable {
    let catalog: Catalog
    let evictor: Evictor
    let watch: VolumeWatch
    private let grants = Atomic<Int>(0)
    private let isNearlyFull = Atomic<Bool>(false)

    init(catalog: Catalog, evictor: Evictor, watch: VolumeWatch) {
        self.catalog = catalog
        self.evictor = evictor
        self.watch = watch
    }

    /// Why nothing is admitted now, told without the catalog: on a full volume not even that can be
    /// written to.
    func refusal() throws(CacheError) -> Refusal? {
        let glance = try watch.glance()
        return Standing.refusal(glance.configuration, glance.pressure)
    }

    /// Why an item under way is given up: a volume that is low on space is no place to go on filling.
    func interruption() throws(CacheError) -> Refusal? {
        let pressure = try watch.glance().pressure
        return pressure >= .low ? .pressure(pressure) : nil
    }

    /// Reserves `bytes` of the budget, evicting when that is needed.
    ///
    /// - Parameters:
    ///   - total: What the item needs in all, with what was reserved for it before.
    ///   - priority: That of the item. Items of a higher one do not make way for it.
    /// - Returns: `nil` when the bytes are reserved. Otherwise no item was evicted for it.
    /// - Complexity: O(1) in memory as long as the allowance lasts; else one transaction.
    func reserve(_ bytes: Int64, ofItem total: Int64, priority: Float) throws(CacheError) -> Refusal? {
        if catalog.inMemory({ $0.allowance.reserve(bytes) }) { return nil }
        if let refusal = try refusal() { return refusal }

        defer { evictor.report() }
        let decision = try givingUpAllowance { database in
            try decide(on: bytes, ofItem: total, priority, database)
        }
        switch decision {
        case .refused(let refusal): return refusal
        case .granted(let grant):
            catalog.inMemory { $0.allowance.add(grant, reserving: bytes) }
            return nil
        }
    }

    private enum Decision {
        case granted(Int64)
        case refused(Refusal)
    }

    private func decide(
        on bytes: Int64, ofItem total: Int64, _ priority: Float, _ database: Database
    ) throws -> Decision {
        let standing = try watch.standing(database)
        if let refusal = standing.refusal(ofItem: total) { return .refused(refusal) }
        let ceiling = standing.ceiling
        var (room, refusal) = try makeRoom(for: bytes, priority, below: ceiling, database)
        if refusal != nil, try catalog.settleDeadWriters(database) {
            (room, refusal) = try makeRoom(for: bytes, priority, below: ceiling, database)
        }
        if let refusal { return .refused(refusal) }
        let grant = min(max(bytes, nextStep(ceiling)), room)
        try catalog.changeAllowance(by: grant, in: database)
        isNearlyFull.store(room - grant < ceiling - Trimming.start(ceiling), ordering: .relaxed)
        return .granted(grant)
    }

    /// Evicts until `bytes` fit below the ceiling. What cannot be made to fit must not cost the others
    /// their place.
    /// - Returns: What is free below it, and why it does not do.
    private func makeRoom(
        for bytes: Int64, _ priority: Float, below ceiling: Int64, _ database: Database
    ) throws -> (room: Int64, refusal: Refusal?) {
        let used = try Self.usedBytes(database)
        let made = try evictor.makeRoom(used + bytes - ceiling, priority: priority, from: database)
        let room = ceiling - (used - made.freed)
        if room >= bytes { return (room, nil) }
        return (
            room,
            made.isKeptByPriority ? .lowPriority(priority) : .overBudget(needed: bytes, budget: ceiling)
        )
    }

    func release(_ bytes: Int64) {
        catalog.inMemory { $0.allowance.release(bytes) }
    }

    /// Whether so little is left of the budget that it should be trimmed soon.
    var wantsTrimming: Bool { isNearlyFull.load(ordering: .relaxed) }

    func noteTrimmed() {
        isNearlyFull.store(false, ordering: .relaxed)
    }

    /// Runs a transaction in which what this process holds unused is free for all.
    func givingUpAllowance<Result>(
        makingRoom: Bool = false, _ body: (Database) throws -> Result
    ) throws(CacheError) -> Result {
        var unused = Unused()
        do {
            return try catalog.transaction(makingRoom: makingRoom) { database in
                // It may be run a second time, on the same file or on a fresh one.
                catalog.inMemory { unused.take(from: &$0.allowance) }
                try catalog.changeAllowance(by: -unused.bytes, in: database)
                return try body(database)
            }
        } catch {
            catalog.inMemory { unused.giveBack(to: &$0.allowance) }
            throw error
        }
    }

    /// How much to take at once. A process that stores one item takes what that needs; one that
    /// stores many takes twice as much every time, up to 1/64 of the budget or 4 MiB, so that the
    /// others are not starved and nothing is evicted much before its time.
    private func nextStep(_ ceiling: Int64) -> Int64 {
        let grants = grants.wrappingAdd(1, ordering: .relaxed).oldValue
        guard grants > 0 else { return 0 }
        return min(Int64(64 << 10) << min(grants, 6), ceiling / 64)
    }
}

/// What a transaction gives up of an allowance, until it is certain.
private struct Unused {
    private(set) var bytes: Int64 = 0
    private var generation = 0

    mutating func take(from allowance: inout Allowance) {
        // A fresh file has never heard of what was given up before.
        if generation != allowance.generation { bytes = 0 }
        generation = allowance.generation
        bytes += allowance.giveUp()
    }

    func giveBack(to allowance: inout Allowance) {
        if generation == allowance.generation { allowance.add(bytes, reserving: 0) }
    }
}

/// The sums that are compared with the budget.
extension Admission {
    /// The charged bytes of all files that have a row.
    static func itemBytes(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database.cachedStatement(sql: "SELECT SUM(chargedLength) FROM total")) ?? 0
    }

    /// The charged bytes of all files that may be evicted.
    static func evictableBytes(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT SUM(chargedLength) FROM total WHERE kind >= 0")) ?? 0
    }

    /// All that counts against the budget: files, what processes hold, and the catalog itself.
    static func usedBytes(_ database: Database) throws -> Int64 {
        try itemBytes(database) + heldBytes(database) + catalogBytes(database)
    }

    /// What all processes hold for items under way, and in advance.
    static func heldBytes(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT IFNULL(SUM(allowance), 0) FROM writer")) ?? 0
    }

    static func catalogBytes(_ database: Database) throws -> Int64 {
        let pages = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA page_count")) ?? 0
        let pageSize = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA page_size")) ?? 0
        return pages * pageSize
    }
}

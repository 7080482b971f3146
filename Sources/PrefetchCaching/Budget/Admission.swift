internal import Logging
internal import PrefetchFileSystem
internal import PrefetchVolumeCapacity
internal import Synchronization

/// Decides whether there is room, before a byte is written.
///
/// The charged bytes never exceed the budget: in one transaction, the sum of all items, the catalog, the
/// ``Allowance`` of every living process and the new request is compared with it.
final class Admission: Sendable {
    let catalog: Catalog
    let evictor: Evictor
    let watch: VolumeWatch
    private let grantTurn = UnfairMutex(())
    private let grants = Atomic<Int>(0)
    private let isNearlyFull = Atomic<Bool>(false)
    /// With fewer free bytes than this, stores will soon have to wait for a grant; 0 when none is to be had in advance.
    private let lowMark = Atomic<Int64>(0)
    /// Whether less was left than stores are granted in advance: the next one says what room is to be made for.
    private let isDemandWanted = Atomic<Bool>(false)
    /// What was admitted last when little or no room was left: trimming makes room for more of it. No item of a list: the
    /// room would be made of what comes next in the list, to be downloaded again.
    private let demand = UnfairMutex<Newcomer?>(nil)
    /// The available bytes when eviction last failed to free anything, see ``maintain()``.
    let reliefFailedAt = UnfairMutex<Int64?>(nil)

    init(catalog: Catalog, evictor: Evictor, watch: VolumeWatch) {
        self.catalog = catalog
        self.evictor = evictor
        self.watch = watch
    }

    /// Returns why nothing is admitted now, or `nil`. Does not use the catalog, which is not writable on a full volume.
    func refusal() throws(CacheError) -> Refusal? {
        let current = try watch.currentPressure()
        return BudgetSnapshot.refusal(current.configuration, current.pressure)
    }

    /// Returns why an item under way is interrupted, or `nil`: a volume that is low on space must not fill up further.
    func interruption() throws(CacheError) -> Refusal? {
        let pressure = try watch.currentPressure().pressure
        return pressure >= .low ? .pressure(pressure) : nil
    }

    /// Reserves `bytes` of the budget, evicting if necessary.
    ///
    /// - Parameters:
    ///   - wanted: What to reserve if it is to be had without evicting for it.
    ///   - total: The charged bytes that the item needs in total, including those reserved before.
    ///   - newcomer: The item. Only what gives way to it is evicted.
    /// - Returns: The reserved bytes.
    /// - Throws: ``Refused`` when they cannot be, and then no item was evicted for them; ``CacheError``.
    /// - Complexity: O(1) in memory as long as the allowance lasts; otherwise one transaction.
    @discardableResult
    func reserve(
        _ bytes: Int64, upTo wanted: Int64 = 0, ofItem total: Int64, for newcomer: Newcomer
    ) throws -> Int64 {
        let wanted = max(bytes, wanted)
        if reserveInMemory(wanted, ofItem: total) {
            if isDemandWanted.load(ordering: .relaxed) { demandRoom(for: newcomer) }
            return wanted
        }
        if let refusal = try refusal() { throw Refused(refusal) }

        // One at a time: a second grant would take back what the first has just been granted.
        let granted: Result<Int64, Refused> = try grantTurn.withLock { _ in
            // It may have been for all.
            if reserveInMemory(wanted, ofItem: total) { return .success(wanted) }
            var transfer = Transfer()
            do {
                return try run(&transfer) { transaction, transfer in
                    try grant(bytes, upTo: wanted, ofItem: total, for: newcomer, &transfer, transaction)
                } committed: { granted, allowance in
                    if case .success(let bytes) = granted { _ = allowance.reserve(bytes) }
                }
            } catch CacheError.catalogOverBudget {
                throw Refused(.overBudget(needed: total, budget: watch.lastCeiling))
            }
        }
        return try granted.get()
    }

    private func reserveInMemory(_ bytes: Int64, ofItem total: Int64) -> Bool {
        total <= watch.lastLargestItem && catalog.inMemory { $0.allowance.reserve(bytes) }
    }

    /// - Returns: What may be reserved, or why nothing is granted. Not thrown: what was done for a refused item is committed
    ///   as well.
    private func grant(
        _ bytes: Int64, upTo wanted: Int64, ofItem total: Int64, for newcomer: Newcomer,
        _ transfer: inout Transfer, _ transaction: CatalogTransaction
    ) throws -> Result<Int64, Refused> {
        let snapshot = try watch.snapshot(transaction)
        if let refusal = snapshot.refusal(ofItem: total) { return .failure(Refused(refusal)) }
        let ceiling = Self.grantable(snapshot)
        var (room, made) = try makeRoom(for: bytes, newcomer, below: ceiling, transaction)
        if room < bytes, try !catalog.reclaimDeadWriters(transaction).isEmpty {
            (room, made) = try makeRoom(for: bytes, newcomer, below: ceiling, transaction)
        }
        guard room >= bytes else {
            if made.isOutweighed { catalog.noteDeclined(newcomer) }
            newcomer.turn?.noteRefused(total)
            return .failure(
                Refused(made.obstacle ?? .overBudget(needed: total, budget: snapshot.ceiling)))
        }
        let step = nextStep(ceiling)
        let grant = min(max(wanted, step), room)
        try promise(grant, &transfer, transaction)
        let isNearlyFull = room - grant < ceiling - Watermarks.high(ceiling)
        if !isNearlyFull, step >= Self.leastAdvance {
            lowMark.store(min(Self.advance(ceiling), grant - min(wanted, grant)) / 2, ordering: .relaxed)
        }
        if isNearlyFull {
            demandRoom(for: newcomer)
        } else {
            self.isNearlyFull.store(false, ordering: .relaxed)
        }
        return .success(min(wanted, grant))
    }

    /// Has maintenance make room for more of a newcomer soon, unless nothing may be evicted for it in advance.
    func demandRoom(for newcomer: Newcomer) {
        guard newcomer.mode == .evicting, newcomer.turn == nil else { return }
        isDemandWanted.store(false, ordering: .relaxed)
        demand.withLock { demand in
            // Stores overlap, so a more urgent item may be admitted after one that is to stay nevertheless.
            if demand.map({ $0.priority >= newcomer.priority }) ?? true { demand = newcomer }
        }
        isNearlyFull.store(true, ordering: .relaxed)
    }

    /// Returns why an item would not be admitted now, or `nil`. Evicts only what has expired.
    ///
    /// - Parameters:
    ///   - bytes: What the item would be charged.
    ///   - isGuess: Whether that is only what items of its source usually are: no reason to call it too large, nor to leave
    ///     more than 1/64 of the budget unused, as long as no item of its round was refused in earnest.
    /// - Complexity: As ``reserve(_:ofItem:for:)``.
    func refusal(ofItem bytes: Int64, isGuess: Bool, for newcomer: Newcomer) throws(CacheError) -> Refusal? {
        // As `reserve` would find.
        if bytes <= watch.lastLargestItem, catalog.inMemory({ $0.allowance.covers(bytes) }) { return nil }
        return try givingUpAllowance { transaction in
            try evictor.evictExpired(from: transaction)
            let snapshot = try watch.snapshot(transaction)
            if !isGuess, let refusal = snapshot.refusal(ofItem: bytes) { return refusal }
            let most = max(snapshot.ceiling / 64, newcomer.turn?.leastRefused ?? 0)
            let bytes = isGuess ? min(bytes, snapshot.largestItem, most) : bytes
            func attainable() throws -> RoomMade {
                let excess = try transaction.usedBytes() + bytes - Self.grantable(snapshot)
                return try RoomForRequest(evictor, for: newcomer, in: transaction).preview(excess)
            }
            var room = try attainable()
            if room.attainable != nil, try !catalog.reclaimDeadWriters(transaction).isEmpty {
                room = try attainable()
            }
            guard room.attainable != nil else { return nil }
            if room.isOutweighed { catalog.noteDeclined(newcomer) }
            if !isGuess { newcomer.turn?.noteRefused(bytes) }
            return room.obstacle ?? .overBudget(needed: bytes, budget: snapshot.ceiling)
        }
    }

    private static func grantable(_ snapshot: BudgetSnapshot) -> Int64 {
        snapshot.ceiling - headroom(snapshot.ceiling)
    }

    /// The part of the budget that is not granted: rows of items that were stored from memory extend the catalog even
    /// when everything else is reserved.
    private static func headroom(_ ceiling: Int64) -> Int64 { min(ceiling / 256, 256 << 10) }

    /// Evicts until `bytes` fit below the ceiling, or evicts nothing if they cannot be made to fit.
    ///
    /// - Returns: The free bytes below the ceiling, and what came of making room for more.
    private func makeRoom(
        for bytes: Int64, _ newcomer: Newcomer, below ceiling: Int64, _ transaction: CatalogTransaction
    ) throws -> (room: Int64, made: RoomMade) {
        let used = try transaction.usedBytes()
        let made = try RoomForRequest(evictor, for: newcomer, in: transaction).make(used + bytes - ceiling)
        return (ceiling - (used - made.freed), made)
    }

    func release(_ bytes: Int64) {
        catalog.inMemory { $0.allowance.release(bytes) }
    }

    /// Returns what was reserved in advance after an item was refused, since it is useless here.
    func releaseAdvance() {
        guard catalog.inMemory({ $0.allowance.free > 0 }) else { return }
        do {
            try givingUpAllowance { _ in }
        } catch {
            // The next maintenance returns it.
            watch.environment.logger.debug(
                "The reservation of a refused item could not be released.", metadata: ["error": "\(error)"])
        }
    }

    /// Whether so little of the budget is left that it should be trimmed soon.
    var wantsTrimming: Bool { isNearlyFull.load(ordering: .relaxed) }

    /// What the cache is to be trimmed for, if anything.
    func takeDemand() -> Newcomer? {
        isNearlyFull.store(false, ordering: .relaxed)
        isDemandWanted.store(false, ordering: .relaxed)
        return demand.withLock { demand in
            defer { demand = nil }
            return demand
        }
    }

    /// Runs a transaction in which the unused allowance of this process is available to all.
    func givingUpAllowance<Result>(
        makingRoom: Bool = false, _ body: (CatalogTransaction) throws -> Result
    ) throws(CacheError) -> Result {
        var transfer = Transfer()
        return try run(makingRoom: makingRoom, &transfer) { transaction, _ in try body(transaction) }
    }

    /// Whether stores will soon have to wait for a grant, unless ``writeBacklog()`` takes it in advance.
    func isRunningLow(_ allowance: Allowance) -> Bool { allowance.free < lowMark.load(ordering: .relaxed) }

    /// Writes pending changes while stores go on, and takes as much in advance as they may need until the next time:
    /// none of them has to wait for the catalog, as long as there is room.
    func writeBacklog() throws(CacheError) {
        // Until more was granted: what was not to be had once must not be asked for again and again.
        lowMark.store(0, ordering: .relaxed)
        // Only who stores needs an allowance, and only a writer may have one.
        let isStoring = catalog.inMemory { $0.allowance.unrecorded > 0 }
        if isStoring { try catalog.beginWriting() }
        var transfer = Transfer()
        try run(makingRoom: true, givingUp: false, &transfer) { transaction, transfer in
            guard isStoring else { return }
            try attempt { try renewAllowance(&transfer, transaction) }
        }
    }

    func renewAllowance(_ transfer: inout Transfer, _ transaction: CatalogTransaction) throws {
        let snapshot = try watch.snapshot(transaction)
        guard snapshot.refusal(ofItem: 0) == nil else { return }
        let ceiling = Self.grantable(snapshot)
        let free = catalog.inMemory { $0.allowance.free }
        let room = Watermarks.high(ceiling) - (try transaction.usedBytes())
        let advance = Self.advance(ceiling)
        let grant = min(advance - free, room)
        isDemandWanted.store(
            advance >= Self.leastAdvance && grant < advance - free, ordering: .relaxed)
        guard grant > 0 else { return }
        try promise(grant, &transfer, transaction)
        if advance >= Self.leastAdvance { lowMark.store(advance / 2, ordering: .relaxed) }
    }

    /// What stores that do not pause are granted at once: twice ``Engine/backlogLimit`` items of 16 KiB, at most 1/64 of the
    /// budget as well.
    private static func advance(_ ceiling: Int64) -> Int64 { min(16 << 20, ceiling / 64) }

    /// For less than this, stores wait, rather than have another thread begin a transaction again and again.
    private static let leastAdvance: Int64 = 1 << 20

    private func promise(_ grant: Int64, _ transfer: inout Transfer, _ transaction: CatalogTransaction) throws
    {
        catalog.inMemory { transfer.promise(grant, by: &$0.allowance) }
        do {
            try catalog.raiseBound()
            try transaction.changeAllowance(of: catalog.environment.session, by: grant)
        } catch {
            // The transaction may be committed all the same, see ``attempt(_:)``.
            catalog.inMemory { transfer.withdraw(grant, from: &$0.allowance) }
            throw error
        }
    }

    func run<Result>(
        makingRoom: Bool = false, givingUp: Bool = true, _ transfer: inout Transfer,
        _ body: (CatalogTransaction, inout Transfer) throws -> Result,
        committed: (Result, inout Allowance) -> Void = { _, _ in }
    ) throws(CacheError) -> Result {
        do {
            return try catalog.transaction(makingRoom: makingRoom) { transaction in
                if givingUp { lowMark.store(0, ordering: .relaxed) }
                catalog.inMemory { transfer.begin(with: &$0.allowance, givingUp: givingUp) }
                try transaction.changeAllowance(of: catalog.environment.session, by: -transfer.unused)
                return try body(transaction, &transfer)
            } committed: { result, state in
                transfer.commit(to: &state.allowance)
                committed(result, &state.allowance)
            }
        } catch {
            catalog.inMemory { transfer.rollBack(to: &$0.allowance) }
            throw error
        }
    }

    /// How many bytes to take at once. A process that stores one item takes what that needs; one that stores more takes
    /// 512 KiB and then 4 MiB, but at most 1/64 of the budget, so that others are not starved and nothing is evicted
    /// far too early.
    private func nextStep(_ ceiling: Int64) -> Int64 {
        let step: Int64 =
            switch grants.wrappingAdd(1, ordering: .relaxed).oldValue {
            case 0: 0
            case 1: 512 << 10
            default: 4 << 20
            }
        return min(step, ceiling / 64)
    }
}

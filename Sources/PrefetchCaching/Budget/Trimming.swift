internal import Logging
internal import PrefetchFileSystem
internal import PrefetchVolumeCapacity
internal import Synchronization

/// When the cache is trimmed, and how far: from 95% of the ceiling down to 90%, so that writers rarely wait for an
/// eviction. Only what would give way to more of what was admitted last is evicted for that: otherwise trimming would make
/// room that only less valuable items fill.
enum Watermarks {
    static func high(_ ceiling: Int64) -> Int64 { ceiling - ceiling / 20 }
    static func low(_ ceiling: Int64) -> Int64 { ceiling - ceiling / 10 }
}

/// Maintenance in the background: about once a second while the cache is in use, and once a minute otherwise.
extension Admission {
    /// The bytes to evict under pressure before the volume is measured for the first time, and twice as many each
    /// time after that.
    static let reliefStep: Int64 = 16 << 20

    /// Writes pending changes, gives up the unused allowance, records what dead processes have left, evicts expired items,
    /// adjusts the budget to the volume, and evicts more under pressure.
    ///
    /// - Parameter listing: Dead processes that have left lists.
    /// - Returns: The levels of pressure that were found, in order.
    func maintain(reclaiming listing: [String]) throws(CacheError) -> [Pressure] {
        var dead: [String] = []
        let levels = try givingUpAllowance(makingRoom: true) { transaction in
            dead = try catalog.reclaimDeadWriters(transaction, and: listing)
            return try maintain(in: transaction)
        }
        catalog.sweepLists(of: dead)
        return levels
    }

    /// Does the same within a transaction, in which the unused allowance was given up.
    func maintain(in transaction: CatalogTransaction) throws -> [Pressure] {
        var levels: [Pressure] = []
        try evictor.evictExpired(from: transaction)
        try evictor.tidy(transaction)
        try attempt { try follow(&levels, transaction) }
        return levels
    }

    /// The charged bytes that ``trimAhead()`` evicts in one transaction: stores that need a grant wait no longer than that
    /// takes. Measured in the documentation, see "Beside others" in Performance.
    private static let bytesPerTrimStep: Int64 = 128 << 10
    /// After so many steps, other maintenance has its turn: whoever stores without a pause takes what each one gains.
    private static let mostTrimSteps = 32

    /// Makes room in advance for what was admitted last, in small steps, while stores go on with what they were granted and
    /// are granted more.
    ///
    /// - Returns: Whether there was anything to make room for; then pending changes were written as well.
    func trimAhead() throws(CacheError) -> Bool {
        guard let newcomer = takeDemand() else { return false }
        try catalog.beginWriting()
        for _ in 0..<Self.mostTrimSteps {
            var transfer = Transfer()
            let isDone = try run(makingRoom: true, givingUp: false, &transfer) { transaction, transfer in
                var isDone = true
                try attempt {
                    isDone = try trimStep(for: newcomer, transaction)
                    try renewAllowance(&transfer, transaction)
                }
                return isDone
            }
            if isDone { return true }
        }
        demandRoom(for: newcomer)
        return true
    }

    /// - Returns: Whether no step is left.
    private func trimStep(for newcomer: Newcomer, _ transaction: CatalogTransaction) throws -> Bool {
        let snapshot = try watch.snapshot(transaction)
        guard snapshot.capacity.state.total > 0, snapshot.refusal(ofItem: 0) == nil else { return true }
        let excess = try transaction.usedBytes() - Watermarks.low(snapshot.limit)
        guard excess > 0 else { return true }
        // What stores have written since the volume was measured is not what this step fails to free.
        return try watch.noting(transaction, from: watch.available()) {
            let step = min(excess, Self.bytesPerTrimStep)
            let room = RoomForRequest(evictor, for: newcomer, isPartial: true, in: transaction)
            return try room.make(step).freed < step || step == excess
        }
    }

    /// Runs `body`, which measures the volume or determines the budget, and logs why that failed: pending changes must not
    /// be lost because of it.
    func attempt(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as FileSystemError {
            notFollowed(error)
        } catch CacheError.fileSystem(let error) {
            notFollowed(error)
        } catch CacheError.configuration(let message) {
            notFollowed(message)
        }
    }

    /// Adjusts the budget to the volume, and evicts more under pressure.
    private func follow(_ levels: inout [Pressure], _ transaction: CatalogTransaction) throws {
        let snapshot = try watch.sample(transaction)
        levels.append(snapshot.pressure)
        try trim(snapshot, because: snapshot.pressure > .normal ? .pressure : .budget, transaction)
        if try relieve(snapshot, transaction) { levels.append(try watch.sample(transaction).pressure) }
    }

    private func notFollowed(_ reason: any Sendable) {
        watch.environment.logger.warning(
            "The budget could not be adjusted to the volume.", metadata: ["error": "\(reason)"])
    }

    /// Evicts down to the budget after it was changed.
    func trimToBudget() throws(CacheError) {
        try givingUpAllowance(makingRoom: true) { transaction in
            try watch.forgetBudget(transaction)
            let snapshot = try watch.sample(transaction)
            try trim(snapshot, transaction)
        }
    }

    /// - Parameter reason: Why there is less room than before.
    private func trim(
        _ snapshot: BudgetSnapshot, because reason: Departure = .budget, _ transaction: CatalogTransaction
    ) throws {
        // A volume that reports no size is unknown: nothing new is admitted, but nothing is evicted either.
        guard snapshot.capacity.state.total > 0 else { return }
        try transaction.shrinkWhereMuchIsFree()
        let limit = snapshot.limit
        guard try transaction.usedBytes() > limit else { return }
        try watch.noting(transaction, from: snapshot.capacity.state.available) {
            try trim(to: limit, because: reason, transaction)
        }
    }

    private func trim(to limit: Int64, because reason: Departure, _ transaction: CatalogTransaction) throws {
        while true {
            let excess = try transaction.usedBytes() - limit
            let items = try transaction.evictableBytes()
            guard excess > 0, items > 0 else { return }
            // Deleting rows with their items shrinks the catalog as well, so its share is left out at first.
            let part = Double(items) / Double(items + (try transaction.catalogBytes()))
            let wanted = max(1, Int64(Double(excess) * part))
            guard try evictor.evict(atLeast: wanted, because: reason, from: transaction) > 0 else { return }
            try transaction.shrinkWhereMuchIsFree()
        }
    }

    /// Evicts until the volume has the space that the level of pressure requires, or eviction does not help. If it did
    /// not help last time, it is retried only after the volume has changed.
    ///
    /// - Returns: Whether anything was tried.
    private func relieve(_ snapshot: BudgetSnapshot, _ transaction: CatalogTransaction) throws -> Bool {
        let wanted: Int64
        switch snapshot.pressure {
        case .normal, .elevated: return false
        case .low: wanted = snapshot.capacity.thresholds.low.leave
        case .critical: wanted = .max
        }
        var free = try FreeBytes(watch)
        guard reliefFailedAt.withLock({ $0 }) != free.count else { return false }
        let hasHelped = try watch.noting(transaction, from: free.count) {
            try makeAvailable(wanted, &free, step: Self.reliefStep, transaction)
        }
        let left = hasHelped ? nil : free.count
        reliefFailedAt.withLock { $0 = left }
        return true
    }

    /// Evicts until `wanted` bytes of the volume are free, as far as possible. After every step the volume is measured
    /// again; when unlinking has freed nothing, because a snapshot or an open file holds the space, the rest of the
    /// cache is kept. Each step is twice as large as the last.
    ///
    /// - Returns: Whether the last step has helped.
    func makeAvailable(
        _ wanted: Int64, _ free: inout FreeBytes, step: Int64 = .max, _ transaction: CatalogTransaction
    ) throws -> Bool {
        var step = step
        while try free.isBelow(wanted) {
            let missing = min(wanted - free.count, step)
            // A file that was already gone frees nothing, which does not mean that eviction does not help.
            let freed = try evictor.evict(
                atLeast: missing, measuredBy: .blocks, because: .pressure, from: transaction)
            guard freed > 0 else { break }
            let before = free.count
            try free.note(freed)
            guard free.count > before else { return false }
            step = step.doubled
        }
        return true
    }
}

extension Int64 {
    /// Twice this positive number, or the largest one.
    var doubled: Int64 { self > .max / 2 ? .max : self * 2 }
}

extension VolumeWatch {
    func log(_ message: Logger.Message, _ error: FileSystemError) {
        environment.logger.warning(message, metadata: ["error": "\(error)"])
    }
}

internal import FileSystem
internal import GRDB
internal import Logging
internal import Synchronization
internal import VolumeCapacity

/// When the cache is trimmed, and how far: from 95% of what it may hold down to 90%, so that writers rarely
/// wait for an eviction.
enum Trimming {
    static func start(_ ceiling: Int64) -> Int64 { ceiling - ceiling / 20 }
    static func end(_ ceiling: Int64) -> Int64 { ceiling - ceiling / 10 }
}

/// Maintenance in the background: about once a second while the cache is in use, and once a minute otherwise.
extension Admission {
    /// The bytes to evict under pressure before the volume is measured for the first time, and twice as many each
    /// time after that.
    static let reliefStep: Int64 = 16 << 20

    /// Writes pending changes, gives up the unused allowance, evicts expired items, adjusts the budget to the
    /// volume, and evicts more under pressure.
    ///
    /// - Returns: The levels of pressure that were found, in order.
    func maintain() throws(CacheError) -> [Pressure] {
        defer { evictor.report() }
        var levels: [Pressure] = []
        try givingUpAllowance(makingRoom: true) { database in
            levels = []
            try evictor.evictExpired(from: database)
            do {
                try follow(&levels, database)
            } catch let error as FileSystemError {
                notFollowed(error)
            } catch CacheError.fileSystem(let error) {
                notFollowed(error)
            } catch CacheError.configuration(let message) {
                notFollowed(message)
            }
        }
        return levels
    }

    /// Adjusts the budget to the volume, and evicts more under pressure.
    private func follow(_ levels: inout [Pressure], _ database: Database) throws {
        let standing = try watch.sample(database)
        levels.append(standing.pressure)
        try trim(standing, startingAt: Trimming.start, endingAt: Trimming.end, database)
        noteTrimmed()
        if try relieve(standing, database) { levels.append(try watch.sample(database).pressure) }
    }

    /// Logs that the volume was not measured, or the budget not determined. Pending changes must not be lost
    /// because of that.
    private func notFollowed(_ reason: any Sendable) {
        watch.environment.logger.warning(
            "The volume was not looked after.", metadata: ["error": "\(reason)"])
    }

    /// Evicts down to the budget after it was changed.
    func trimToBudget() throws(CacheError) {
        defer { evictor.report() }
        try givingUpAllowance(makingRoom: true) { database in
            try watch.forgetBudget(database)
            let standing = try watch.sample(database)
            try trim(standing, startingAt: { $0 }, endingAt: { $0 }, database)
        }
    }

    private func trim(
        _ standing: Standing, startingAt start: (Int64) -> Int64, endingAt end: (Int64) -> Int64,
        _ database: Database
    ) throws {
        // Nothing is known of a volume without a size. It admits nothing new, but nothing is evicted for it.
        guard standing.capacity.state.total > 0 else { return }
        try Shrinking.shrinkWhereMuchIsFree(database)
        let limit = standing.limit
        guard try Self.usedBytes(database) > start(limit) else { return }
        try watch.noting(database, from: standing.capacity.state.available) {
            try trim(to: end(limit), database)
        }
    }

    private func trim(to limit: Int64, _ database: Database) throws {
        while true {
            let excess = try Self.usedBytes(database) - limit
            let items = try Self.evictableBytes(database)
            guard excess > 0, items > 0 else { return }
            // Rows that are deleted with their items shorten the file as well; their share is left out at
            // first.
            let part = Double(items) / Double(items + (try Self.catalogBytes(database)))
            let wanted = max(1, Int64(Double(excess) * part))
            guard try evictor.evict(atLeast: wanted, from: database) > 0 else { return }
            try Shrinking.shrinkWhereMuchIsFree(database)
        }
    }

    /// Evicts until the volume has the space that the level of pressure requires, or eviction does not help.
    /// If it did not help last time, it is tried again only after the volume has changed.
    ///
    /// - Returns: Whether anything was tried.
    private func relieve(_ standing: Standing, _ database: Database) throws -> Bool {
        let wanted: Int64
        switch standing.pressure {
        case .normal, .elevated: return false
        case .low: wanted = standing.capacity.thresholds.low.leave
        case .critical: wanted = .max
        }
        var free = try FreeBytes(watch)
        guard uselessAt.withLock({ $0 }) != free.count else { return false }
        let hasHelped = try watch.noting(database, from: free.count) {
            try makeAvailable(wanted, &free, step: Self.reliefStep, database)
        }
        let left = hasHelped ? nil : free.count
        uselessAt.withLock { $0 = left }
        return true
    }

    /// Evicts until `wanted` bytes of the volume are free, as far as possible. After every step the volume is
    /// measured again; when unlinking has freed nothing, because a snapshot or an open file keeps the space,
    /// the rest of the cache is kept. Each step is twice as long as the last, which has helped.
    ///
    /// - Returns: Whether the last step has helped.
    func makeAvailable(
        _ wanted: Int64, _ free: inout FreeBytes, step: Int64 = .max, _ database: Database
    ) throws -> Bool {
        var step = step
        while try free.isBelow(wanted) {
            let missing = min(wanted - free.count, step)
            // A file that was gone already frees nothing: it is not a sign that eviction does not help.
            let freed = try evictor.evict(atLeast: missing, measuredBy: .blocks, from: database)
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

internal import FileSystem
internal import GRDB
internal import ItemFormat
internal import Logging
internal import Synchronization

/// Removes files until there is enough space: expired items first, then in the order of the policy.
///
/// Files are unlinked first and their rows deleted second, so that eviction works with no byte free. Every
/// step of the loop deletes a row or passes over it for good: an item that cannot be removed, or is being
/// read, does not stall eviction, and one that is gone already only loses its row.
final class Evictor: Sendable {
    private static let batch = 64
    /// A generous bound on what a full volume needs for the journal of one transaction.
    private static let emergencyBytes: Int64 = 1 << 20

    let files: any CatalogedFiles
    private let chosenPolicy: @Sendable () -> any EvictionPolicy
    let environment: CacheEnvironment
    private let reportEvent: @Sendable (CacheEvent) -> Void
    private let unreported = Mutex<[CacheEvent]>([])

    init(
        files: any CatalogedFiles, policy: @escaping @Sendable () -> any EvictionPolicy,
        environment: CacheEnvironment, report: @escaping @Sendable (CacheEvent) -> Void
    ) {
        self.files = files
        chosenPolicy = policy
        self.environment = environment
        reportEvent = report
    }

    /// The policy in force.
    var policy: any EvictionPolicy { chosenPolicy() }

    /// The running totals of one call.
    struct Tally {
        let measure: EvictionMeasure
        private(set) var freed: Int64 = 0
        private var evictions: Int64 = 0
        private var evictedBytes: Int64 = 0

        init(_ measure: EvictionMeasure) {
            self.measure = measure
        }

        mutating func count(_ victim: Victim, _ removal: Removal) {
            freed += measure.bytes(of: victim, removal)
            // A file that the system purged was not evicted by us.
            guard removal == .removed else { return }
            evictions += 1
            evictedBytes += victim.chargedLength
        }

        func write(to database: Database) throws {
            guard evictions > 0 else { return }
            let counters: [Counter: Int64] = [.evictions: evictions, .evictedBytes: evictedBytes]
            try Catalog.add(
                Dictionary(uniqueKeysWithValues: counters.map { ($0.rawValue, $1) }), in: database)
        }
    }

    /// Evicts until at least `bytes` were freed, or nothing more can be evicted.
    ///
    /// - Returns: The freed bytes, as `measure` counts them.
    func evict(
        atLeast bytes: Int64, measuredBy measure: EvictionMeasure = .charge, from database: Database
    ) throws -> Int64 {
        guard bytes > 0 else { return 0 }
        var tally = Tally(measure)
        try evictExpired(atLeast: bytes, &tally, from: database)

        let policy = policy
        var passedOver: Set<KeyHash> = []
        var limit = 1
        while tally.freed < bytes {
            let victims = try policy.victims(atMost: limit, passingOver: passedOver, in: database)
            guard !victims.isEmpty else { break }
            for victim in victims where tally.freed < bytes {
                if try !evict(victim, &tally, from: database) { passedOver.insert(victim.hash) }
            }
            limit = min(limit * 4, Self.batch)
        }
        try tally.write(to: database)
        return tally.freed
    }

    /// Evicts until at least `bytes` of charged length were freed, or evicts nothing when that is impossible.
    ///
    /// - Parameter priority: Items of a higher priority are not evicted.
    func makeRoom(_ bytes: Int64, priority: Float, from database: Database) throws -> RoomMade {
        try RoomForRequest(self, choosing: policy, .charge, priority: priority, in: database).make(bytes)
    }

    /// Returns how much of `bytes` of the volume eviction could free now. Only reads the catalog.
    func attainable(_ bytes: Int64, in database: Database) throws -> Int64 {
        // Any policy will do, as the order does not matter here; this one changes no state.
        try RoomForRequest(self, choosing: FirstInFirstOut(), .blocks, in: database).attainable(bytes)
    }

    /// Evicts expired items and partials.
    func evictExpired(from database: Database) throws {
        var tally = Tally(.charge)
        try evictExpired(atLeast: .max, &tally, from: database)
        try tally.write(to: database)
    }

    func evictExpired(atLeast bytes: Int64, _ tally: inout Tally, from database: Database) throws {
        let now = environment.now()
        var passedOver = 0
        while tally.freed < bytes {
            let victims = try Victim.expired(
                at: now, atMost: Self.batch, passingOver: passedOver, in: database)
            guard !victims.isEmpty else { break }
            for victim in victims where tally.freed < bytes {
                if try !evict(victim, &tally, from: database) { passedOver += 1 }
            }
        }
    }

    /// - Parameter claim: The claim on the victim, if there is one.
    /// - Returns: Whether the file is gone.
    func evict(
        _ victim: Victim, _ tally: inout Tally, claim: Claim? = nil, from database: Database
    ) throws -> Bool {
        let removal: Removal
        do {
            removal = if let claim { try files.remove(victim, claim) } else { try files.remove(victim) }
        } catch {
            warn(victim, error)
            return false
        }
        guard removal != .leased else { return false }
        try forget(victim, removal, &tally, in: database)
        return true
    }

    /// Deletes the row of a file that is gone.
    func forget(_ victim: Victim, _ removal: Removal, _ tally: inout Tally, in database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM item WHERE hash = ?").execute(
            arguments: [victim.hash.data])
        tally.count(victim, removal)
        if removal == .removed { noteEvicted(victim) }
    }

    /// Unlinks a few of the least recently used items, and leaves their rows to the next transaction.
    func unlinkColdest(from database: Database) throws -> (items: Int, bytes: Int64) {
        var freed = (items: 0, bytes: Int64(0))
        var seen: Set<KeyHash> = []
        while freed.bytes < Self.emergencyBytes {
            let victims = try Victim.inOrder(atMost: Self.batch, passingOver: seen, in: database)
            guard !victims.isEmpty else { break }
            for victim in victims where freed.bytes < Self.emergencyBytes {
                seen.insert(victim.hash)
                do {
                    guard try files.remove(victim) == .removed else { continue }
                    freed.items += 1
                    freed.bytes += victim.chargedLength
                    noteEvicted(victim)
                } catch {
                    warn(victim, error)
                }
            }
        }
        return freed
    }

    private func noteEvicted(_ victim: Victim) {
        guard victim.kind == .item, let key = victim.itemKey else { return }
        unreported.withLock { $0.append(.evicted(key, chargedBytes: victim.chargedLength)) }
    }

    func warn(_ victim: Victim, _ error: FileSystemError) {
        environment.logger.warning(
            "An item cannot be evicted.", metadata: ["key": "\(victim.key)", "error": "\(error)"])
    }

    /// Sends the events of evictions whose transaction has ended.
    func report() {
        let events = unreported.withLock { events in
            defer { events = [] }
            return events
        }
        events.forEach(reportEvent)
    }
}

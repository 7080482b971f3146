internal import FileSystem
internal import GRDB
internal import ItemFormat
internal import Logging
internal import Synchronization

/// Removes files until there is enough space: expired items first, then in the order of the policy.
///
/// Files are unlinked first and their rows deleted second, so that eviction works with no byte free.
/// Every step of the loop removes a row or passes over it for good: an item that cannot be removed, or
/// that somebody reads, does not stall eviction, and one that is gone already only loses its row.
final class Evictor: Sendable {
    private static let batch = 64
    /// What a full volume needs for the journal of one transaction, generously.
    private static let emergencyBytes: Int64 = 1 << 20

    private let files: any CatalogedFiles
    private let policy: @Sendable () -> any EvictionPolicy
    private let environment: CacheEnvironment
    private let reportEvent: @Sendable (CacheEvent) -> Void
    private let unreported = Mutex<[CacheEvent]>([])

    init(
        files: any CatalogedFiles, policy: @escaping @Sendable () -> any EvictionPolicy,
        environment: CacheEnvironment, report: @escaping @Sendable (CacheEvent) -> Void
    ) {
        self.files = files
        self.policy = policy
        self.environment = environment
        reportEvent = report
    }

    /// What one call has done so far.
    private struct Tally {
        var freed: Int64 = 0
        var evictions: Int64 = 0
        var evictedBytes: Int64 = 0

        var counters: [String: Int64] {
            [Counter.evictions.rawValue: evictions, Counter.evictedBytes.rawValue: evictedBytes]
        }
    }

    /// Evicts until at least `bytes` of charged length are free, or nothing more can be evicted.
    /// - Returns: The charged bytes that were freed.
    func evict(atLeast bytes: Int64, from database: Database) throws -> Int64 {
        guard bytes > 0 else { return 0 }
        var tally = Tally()
        try evictExpired(atLeast: bytes, &tally, from: database)

        let policy = policy()
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
        if tally.evictions > 0 { try Catalog.add(tally.counters, in: database) }
        return tally.freed
    }

    /// Evicts what is no longer worth keeping.
    func evictExpired(from database: Database) throws {
        var tally = Tally()
        try evictExpired(atLeast: .max, &tally, from: database)
        if tally.evictions > 0 { try Catalog.add(tally.counters, in: database) }
    }

    private func evictExpired(atLeast bytes: Int64, _ tally: inout Tally, from database: Database) throws {
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

    /// - Returns: Whether the file is gone.
    private func evict(_ victim: Victim, _ tally: inout Tally, from database: Database) throws -> Bool {
        let removal: Removal
        do {
            removal = try files.remove(victim)
        } catch {
            warn(victim, error)
            return false
        }
        guard removal != .leased else { return false }
        try database.cachedStatement(sql: "DELETE FROM item WHERE hash = ?").execute(
            arguments: [victim.hash.data])
        tally.freed += victim.chargedLength
        // What the system purged was no eviction of ours.
        guard removal == .removed else { return true }
        tally.evictions += 1
        tally.evictedBytes += victim.chargedLength
        if victim.kind == .item, let key = victim.itemKey {
            unreported.withLock { $0.append(.evicted(key, chargedBytes: victim.chargedLength)) }
        }
        return true
    }

    /// Unlinks a few of the coldest items and leaves their rows to the next transaction.
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
                } catch {
                    warn(victim, error)
                }
            }
        }
        return freed
    }

    private func warn(_ victim: Victim, _ error: FileSystemError) {
        environment.logger.warning(
            "An item cannot be evicted.", metadata: ["key": "\(victim.key)", "error": "\(error)"])
    }

    /// Tells the events of evictions whose transaction has ended.
    func report() {
        let events = unreported.withLock { events in
            defer { events = [] }
            return events
        }
        events.forEach(reportEvent)
    }
}

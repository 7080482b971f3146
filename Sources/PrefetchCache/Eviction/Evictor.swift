internal import FileSystem
internal import GRDB
internal import ItemFormat
internal import Logging
internal import Synchronization
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Removes the least recently used items: exact LRU over the persisted order of use, quarantined
/// files first.
///
/// Files are unlinked first and their rows deleted second, so that eviction works with no byte free.
/// Every step of the loop removes a row or passes over it for good: an item that cannot be removed
/// does not stall eviction, and one that is gone already only loses its row.
final class Evictor: Sendable {
    private static let batch = 64
    /// What a full volume needs for the journal of one transaction, generously.
    private static let emergencyBytes: Int64 = 1 << 20

    private let folders: CacheFolders
    private let environment: CacheEnvironment
    private let reportEvent: @Sendable (CacheEvent) -> Void
    private let unreported = Mutex<[CacheEvent]>([])

    init(
        folders: CacheFolders, environment: CacheEnvironment, report: @escaping @Sendable (CacheEvent) -> Void
    ) {
        self.folders = folders
        self.environment = environment
        reportEvent = report
    }

    /// Evicts until at least `bytes` of charged length are free, or nothing more can be evicted.
    /// - Returns: The charged bytes that were freed.
    func evict(atLeast bytes: Int64, from database: Database) throws -> Int64 {
        var freed: Int64 = 0
        var passedOver = 0
        while freed < bytes {
            let victims = try Victim.fetch(database, limit: Self.batch, offset: passedOver)
            guard !victims.isEmpty else { break }
            for victim in victims where freed < bytes {
                guard try evict(victim, from: database) else {
                    passedOver += 1
                    continue
                }
                freed += victim.chargedLength
            }
        }
        return freed
    }

    /// Unlinks a few of the coldest items and leaves their rows to the next transaction.
    func unlinkColdest(from database: Database) throws -> (items: Int, bytes: Int64) {
        var freed = (items: 0, bytes: Int64(0))
        var offset = 0
        while freed.bytes < Self.emergencyBytes {
            let victims = try Victim.fetch(database, limit: Self.batch, offset: offset)
            guard !victims.isEmpty else { break }
            offset += victims.count
            for victim in victims where freed.bytes < Self.emergencyBytes {
                do {
                    try remove(victim)
                    freed.items += 1
                    freed.bytes += victim.chargedLength
                } catch {
                    // What is gone already has a row left over from an earlier attempt.
                    if !error.isNotFound { warn(victim, error) }
                }
            }
        }
        return freed
    }

    private func warn(_ victim: Victim, _ error: FileSystemError) {
        environment.logger.warning(
            "An item cannot be evicted.", metadata: ["key": "\(victim.key)", "error": "\(error)"])
    }

    /// - Returns: Whether the file is gone.
    private func evict(_ victim: Victim, from database: Database) throws -> Bool {
        var wasThere = true
        do {
            try remove(victim)
        } catch {
            guard error.isNotFound else {
                warn(victim, error)
                return false
            }
            wasThere = false
        }
        try database.cachedStatement(sql: "DELETE FROM item WHERE hash = ?").execute(
            arguments: [victim.hash.data])
        // What the system purged was no eviction of ours.
        guard wasThere else { return true }
        try Catalog.add(
            [Counter.evictions.rawValue: 1, Counter.evictedBytes.rawValue: victim.chargedLength], in: database
        )
        unreported.withLock { events in
            guard victim.kind == .item, let key = victim.itemKey else { return }
            events.append(.evicted(key, chargedBytes: victim.chargedLength))
        }
        return true
    }

    private func remove(_ victim: Victim) throws(FileSystemError) {
        let handles = folders.current
        switch victim.kind {
        case .quarantined:
            let path = CacheLayout.quarantine.appending(victim.hash.hexadecimal)
            try environment.fileSystem.unlink(path, in: handles.root.descriptor)
        default:
            try environment.fileSystem.unlink(
                CacheLayout.file(of: victim.hash), in: handles.items.descriptor)
        }
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

/// A row that may be evicted.
private struct Victim {
    let hash: KeyHash
    let key: String
    let kind: CatalogRow.Kind
    let chargedLength: Int64

    var itemKey: ItemKey? {
        do { return try ItemKey(key) } catch { return nil }
    }

    static func fetch(_ database: Database, limit: Int, offset: Int) throws -> [Victim] {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT hash, key, kind, chargedLength FROM item WHERE kind >= 0
                    ORDER BY kind DESC, priority, lastUse LIMIT ? OFFSET ?
                    """),
            arguments: [limit, offset])
        return rows.compactMap { row in
            guard let hash = KeyHash(data: row[0] as Data), let kind = CatalogRow.Kind(rawValue: row[2])
            else { return nil }
            return Victim(hash: hash, key: row[1], kind: kind, chargedLength: row[3])
        }
    }
}

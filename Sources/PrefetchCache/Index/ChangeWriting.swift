internal import FileSystem
internal import GRDB
internal import ItemFormat

/// Changes on their way into the tables, within one transaction.
///
/// The rows are written at once, so that an eviction finds them. The counters, the last number of the order
/// of use and the allowance are written once, at the end, however many changes there are.
struct ChangeWriting {
    private let catalog: Catalog
    private let policy: any EvictionPolicy
    private let database: Database
    private var sequence: Int64
    private var counters: [String: Int64] = [:]
    private var storedBytes: Int64 = 0
    /// Whether there is a row of a kept partial. If there is none, storing an item need not look for one.
    private var hasPartials: Bool

    init(_ catalog: Catalog, to database: Database) throws {
        self.catalog = catalog
        self.database = database
        policy = catalog.policy()
        sequence = try Catalog.value(of: Counter.sequence.rawValue, in: database)
        hasPartials = try Partials.areKept(database)
    }

    /// Writes the rows of a batch of changes.
    mutating func write(_ batch: PendingChanges) throws {
        for (hash, change) in batch.ordered {
            switch change {
            case .stored(let row) where row.kind == .partial: try writePartial(row)
            case .partialGone: try forgetPartial(hash)
            case .stored(let row):
                sequence += 1
                if row.kind == .item, hasPartials { try supersedePartial(of: hash) }
                // A file that another process has replaced meanwhile has its row written by that process; one
                // that it has removed or evicted has no row.
                switch try lengthOnDisk(row) {
                case row.storedLength: try row.write(to: database, lastUse: sequence)
                case nil: try delete(hash)
                default: break
                }
            case .touched:
                try policy.noteUse(of: hash, &sequence, in: database)
            case .removed, .absent:
                // Another process may have stored the item again; it writes the row then.
                if try catalog.files.storedLength(of: hash) == nil { try delete(hash) }
            }
        }
        if hasPartials {
            for hash in batch.opened { try supersedePartial(of: hash) }
        }
        for (name, value) in batch.counters { counters[name, default: 0] += value }
        storedBytes += batch.storedBytes
    }

    /// Writes everything else.
    func finish() throws {
        try Catalog.add(counters, in: database)
        try Catalog.setValue(of: Counter.sequence.rawValue, to: sequence, in: database)
        try catalog.changeAllowance(by: -storedBytes, in: database)
    }

    private func delete(_ hash: KeyHash) throws {
        try database.cachedStatement(sql: "DELETE FROM item WHERE hash = ?").execute(
            arguments: [hash.data])
    }

    private func lengthOnDisk(_ row: CatalogRow) throws(FileSystemError) -> Int64? {
        // A quarantined file is never replaced or removed without a row.
        row.kind == .quarantined ? row.storedLength : try catalog.files.storedLength(of: row.hash)
    }
}

/// The rows of kept partials. A partial that is being written has none: it is part of what its process holds.
extension ChangeWriting {
    private mutating func writePartial(_ row: CatalogRow) throws {
        switch try catalog.files.standing(ofPartial: row.hash) {
        case .kept(row.storedLength):
            sequence += 1
            try row.write(to: database, lastUse: sequence)
            hasPartials = true
        case .kept(let length) where length > row.storedLength:
            // Another writer has resumed it, and kept it again.
            break
        case .held: break
        case .absent, .kept:
            // The system purged it, wholly or in part.
            try remove(row.hash)
        }
    }

    private func forgetPartial(_ hash: KeyHash) throws {
        switch try catalog.files.standing(ofPartial: hash) {
        case .absent: try delete(hash)
        // The row is that of an older one.
        case .held(catalog.environment.session): try delete(hash)
        case .held, .kept: break
        }
    }

    /// Removes the partial of a key that was stored or opened, which makes the partial useless.
    private func supersedePartial(of hash: KeyHash) throws {
        guard try Partials.chargedLength(hash, in: database) != nil else { return }
        try remove(hash.ofPartial)
    }

    /// Removes the files of a partial, and its row when nothing is left.
    private func remove(_ hash: KeyHash) throws {
        let victim = Victim(hash: hash, key: "", kind: .partial, chargedLength: 0, priority: 0)
        do {
            if try catalog.files.remove(victim) == .leased { return }
        } catch {
            return catalog.evictor.warn(victim, error)
        }
        try delete(hash)
    }
}

internal import FileSystem
internal import GRDB
internal import ItemFormat

/// Changes on their way into the tables, within one transaction.
///
/// The rows are written at once, so that an eviction finds them; the counters, the last number of the
/// order of use and the allowance once, at the end, however many changes come one after the other.
struct ChangeWriting {
    private let catalog: Catalog
    private let policy: any EvictionPolicy
    private let database: Database
    private var sequence: Int64
    private var counters: [String: Int64] = [:]
    private var storedBytes: Int64 = 0

    init(_ catalog: Catalog, to database: Database) throws {
        self.catalog = catalog
        self.database = database
        policy = catalog.policy()
        sequence = try Catalog.value(of: Counter.sequence.rawValue, in: database)
    }

    /// Writes the rows of what happened.
    mutating func write(_ batch: PendingChanges) throws {
        for (hash, change) in batch.ordered {
            switch change {
            case .stored(let row):
                sequence += 1
                // What another process has replaced meanwhile is its own to write; what it has removed
                // or evicted is no more.
                switch try lengthOnDisk(row) {
                case row.storedLength: try row.write(to: database, lastUse: sequence)
                case nil: try delete(hash)
                default: break
                }
            case .touched:
                try policy.noteUse(of: hash, &sequence, in: database)
            case .removed, .absent:
                // Another process may have stored the item anew; then the row is its own to write.
                if try catalog.files.storedLength(of: hash) == nil { try delete(hash) }
            }
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
        // What was set aside nobody replaces or removes without a row.
        row.kind == .quarantined ? row.storedLength : try catalog.files.storedLength(of: row.hash)
    }
}

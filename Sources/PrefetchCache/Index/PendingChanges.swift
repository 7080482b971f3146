internal import ItemFormat

/// What happened since the catalog was last written. Several changes of one item are merged into one.
struct PendingChanges: Sendable {
    enum Change: Sendable {
        case stored(CatalogRow)
        case touched
        case removed
        /// Found to be missing, whatever removed it.
        case absent
        /// A kept partial is gone, or was found to be missing.
        case partialGone
    }

    struct Entry: Sendable {
        var order: UInt64
        var change: Change
        /// The position of the last use of an item that was also stored: a policy may count it differently
        /// from the store.
        var usedAt: UInt64?
    }

    private(set) var entries: [KeyHash: Entry] = [:]
    private(set) var counters: [String: Int64] = [:]
    /// The items that the user has opened.
    private(set) var opened: Set<KeyHash> = []
    private var lastOrder: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty && counters.isEmpty && opened.isEmpty }

    /// The changes in the order in which they happened.
    var ordered: [(hash: KeyHash, change: Change)] {
        var steps: [(order: UInt64, hash: KeyHash, change: Change)] = []
        steps.reserveCapacity(entries.count)
        for (hash, entry) in entries {
            steps.append((entry.order, hash, entry.change))
            if let usedAt = entry.usedAt { steps.append((usedAt, hash, .touched)) }
        }
        steps.sort { $0.order < $1.order }
        return steps.map { ($0.hash, $0.change) }
    }

    /// Charged bytes of all stored items that the catalog does not charge for yet.
    var storedBytes: Int64 {
        entries.values.reduce(0) { sum, entry in
            guard case .stored(let row) = entry.change, !row.isSettled else { return sum }
            return sum + row.chargedLength
        }
    }

    /// The row of an item that was stored and not yet written to the catalog.
    func storedRow(_ hash: KeyHash) -> CatalogRow? {
        guard case .stored(let row) = entries[hash]?.change else { return nil }
        return row
    }

    mutating func count(_ counter: Counter, by value: Int64 = 1) {
        counters[counter.rawValue, default: 0] += value
    }

    mutating func count(_ refusal: Refusal) {
        counters[Counter.refusalPrefix + refusal.reason, default: 0] += 1
    }

    mutating func stored(_ row: CatalogRow) {
        set(.stored(row), for: row.hash)
    }

    mutating func touched(_ hash: KeyHash) {
        switch entries[hash]?.change {
        case .stored:
            lastOrder += 1
            entries[hash]?.usedAt = lastOrder
        case .touched, nil: set(.touched, for: hash)
        case .removed, .absent, .partialGone: break
        }
    }

    mutating func removed(_ hash: KeyHash) {
        set(.removed, for: hash)
    }

    /// Notes that an item is not on disk, unless something newer is known of it.
    mutating func absent(_ hash: KeyHash) {
        if entries[hash] == nil { set(.absent, for: hash) }
    }

    mutating func partialGone(_ hash: KeyHash) {
        set(.partialGone, for: hash)
    }

    /// Notes that the user has opened an item, which makes its partial useless.
    mutating func opened(_ hash: KeyHash) {
        opened.insert(hash)
    }

    /// Notes that a partial is not on disk, unless something newer is known of it.
    mutating func partialAbsent(_ hash: KeyHash) {
        if entries[hash] == nil { set(.partialGone, for: hash) }
    }

    private mutating func set(_ change: Change, for hash: KeyHash) {
        lastOrder += 1
        entries[hash] = Entry(order: lastOrder, change: change)
    }

    /// Puts back changes that could not be written, as if they had stayed here all along.
    ///
    /// - Returns: Charged bytes of files that were removed meanwhile, and that no row will account for.
    mutating func restore(_ older: PendingChanges) -> Int64 {
        let newer = self
        self = older
        for (name, value) in newer.counters { counters[name, default: 0] += value }
        opened.formUnion(newer.opened)
        for (hash, change) in newer.ordered {
            switch change {
            case .stored(var row):
                // The row of the item that was set aside was on its way, and has not arrived.
                if row.isSettled, older.isUnsettled(row.hash.setAside) { row.isSettled = false }
                stored(row)
            case .touched: touched(hash)
            case .removed: removed(hash)
            // The lookup came before the older change was known to have failed.
            case .absent: absent(hash)
            case .partialGone: partialGone(hash)
            }
        }
        return older.storedBytes + newer.storedBytes - storedBytes
    }

    private func isUnsettled(_ hash: KeyHash) -> Bool {
        storedRow(hash).map { !$0.isSettled } ?? false
    }
}

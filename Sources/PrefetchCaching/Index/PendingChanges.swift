internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat

/// What happened since the catalog was last written. Several changes of one item are merged into one.
struct PendingChanges: Sendable {
    enum Change: Sendable {
        case stored(CatalogRow)
        /// Used so many times.
        case touched(Int64)
        case removed(Departure)
        /// Found to be missing, whatever removed it.
        case absent
        /// A kept partial is gone, or was found to be missing.
        case partialLost
    }

    struct Entry: Sendable {
        var order: UInt64
        var change: Change
        /// The position of the last use of an item that was also stored: a policy may count it differently
        /// from the store.
        var usedAt: UInt64?
        /// How often an item was used since it was stored, or before any other change.
        var uses: Int64 = 0
        /// The end of the item that the row belongs to, when another was stored since.
        var ended: End?
    }

    struct End: Sendable {
        let order: UInt64
        let reason: Departure
        /// How often it was used before.
        let uses: Int64
    }

    /// With more changes than this, readers wait until they are being written: a transaction that writes them is short.
    static let mostWithoutWaiting = 1024
    /// As long as the catalog cannot be written, uses of other items than so many are counted without their item.
    private static let most = 16_384

    /// The most misses that are counted by key; further ones are counted without one. With so many entries, what is found to
    /// be missing is not noted: its row is deleted when its file is looked for again.
    private static let mostMisses = 4096

    private(set) var entries: [KeyHash: Entry] = [:]
    /// What happened to items that never had a row.
    private(set) var events: [(order: UInt64, event: UsageEvent, hash: KeyHash?)] = []
    /// How often items were looked for and not found, and when first.
    private(set) var misses: [ItemKey: (order: UInt64, count: Int64)] = [:]
    private var otherMisses: (order: UInt64, count: Int64)?
    /// Items that were refused because they are not worth their space, and when first.
    private(set) var declined: [ItemKey: (order: UInt64, item: Declined)] = [:]
    /// The items that the user has opened.
    private(set) var opened: Set<KeyHash> = []
    /// The places at which the items are listed, see ``WriteIntents``.
    var places: [WriteIntents.Place] = []
    /// How often further items were used.
    private(set) var furtherUses: Int64 = 0
    private var lastOrder: UInt64 = 0

    /// Whether there are so many changes that whoever adds to them should wait.
    var isLong: Bool { entries.count >= Self.mostWithoutWaiting }

    var isEmpty: Bool {
        entries.isEmpty && furtherUses == 0 && events.isEmpty && misses.isEmpty && declined.isEmpty
            && opened.isEmpty
    }

    /// Whether items were used or looked for, and nothing else.
    var isOnlyUse: Bool {
        opened.isEmpty
            && entries.values.allSatisfy { entry in
                switch entry.change {
                case .touched, .absent: entry.ended == nil
                case .stored, .removed, .partialLost: false
                }
            }
    }

    /// The changes in chronological order.
    var ordered: [(order: UInt64, hash: KeyHash, change: Change)] {
        var steps: [(order: UInt64, hash: KeyHash, change: Change)] = []
        steps.reserveCapacity(entries.count)
        for (hash, entry) in entries {
            if let ended = entry.ended {
                if ended.uses > 0 { steps.append((ended.order, hash, .touched(ended.uses))) }
                steps.append((ended.order + 1, hash, .removed(ended.reason)))
                if case .removed = entry.change { continue }
            }
            if let usedAt = entry.usedAt {
                steps.append((entry.order, hash, entry.change))
                steps.append((usedAt, hash, .touched(entry.uses)))
            } else {
                if entry.uses > 0 { steps.append((entry.order, hash, .touched(entry.uses))) }
                steps.append((entry.order + 1, hash, entry.change))
            }
        }
        steps.sort { $0.order < $1.order }
        return steps
    }

    /// What happened besides the changes, in chronological order.
    fileprivate var notes: [(order: UInt64, note: Note)] {
        (events.map { ($0.order, .event($0.event, $0.hash)) }
            + (otherMisses.map {
                [($0.order, .event(UsageEvent(kind: .missed(count: $0.count, wasStored: false)), nil))]
            } ?? [])
            + misses.map { ($0.value.order, .missed($0.key, count: $0.value.count)) }
            + declined.map { ($0.value.order, .declined($0.key, $0.value.item)) })
            .sorted { $0.order < $1.order }
    }

    fileprivate enum Note {
        case event(UsageEvent, KeyHash?)
        case missed(ItemKey, count: Int64)
        case declined(ItemKey, Declined)
    }

    /// Charged bytes of all stored items that the catalog does not charge for yet.
    var storedBytes: Int64 {
        entries.values.reduce(0) { sum, entry in
            guard case .stored(let row) = entry.change, !row.isRecorded else { return sum }
            return sum + row.chargedBytes
        }
    }

    /// The row of an item that was stored and not yet written to the catalog.
    func storedRow(_ hash: KeyHash) -> CatalogRow? {
        guard case .stored(let row) = entries[hash]?.change else { return nil }
        return row
    }

    /// Why the item that the row belongs to has gone, if it has.
    func departure(of hash: KeyHash) -> Departure? {
        guard let entry = entries[hash] else { return nil }
        if case .removed(let reason) = entry.change { return entry.ended?.reason ?? reason }
        return entry.ended?.reason
    }

    mutating func missed(_ key: ItemKey) { missed(key, 1, at: next()) }

    private mutating func missed(_ key: ItemKey?, _ count: Int64, at order: UInt64) {
        if let key, misses[key] != nil || misses.count < Self.mostMisses {
            misses[key, default: (order, 0)].count += count
        } else {
            otherMisses = (otherMisses?.order ?? order, (otherMisses?.count ?? 0) + count)
        }
    }

    mutating func declined(_ key: ItemKey, _ item: Declined) {
        if declined.count < Self.mostMisses, declined[key] == nil { declined[key] = (next(), item) }
    }

    mutating func listed(at place: WriteIntents.Place?) {
        if let place { places.append(place) }
    }

    mutating func stored(_ row: CatalogRow) {
        noteReplaced(row.hash, because: .replaced)
        set(.stored(row), for: row.hash)
    }

    mutating func touched(_ hash: KeyHash, count: Int64 = 1) {
        switch entries[hash]?.change {
        case .stored:
            let order = next()
            entries[hash]?.usedAt = order
            entries[hash]?.uses += count
        case .touched(let uses): set(.touched(uses + count), for: hash)
        case nil where entries.count >= Self.most: furtherUses += count
        // After an end, another process has stored the item again.
        case nil, .removed, .absent, .partialLost: set(.touched(count), for: hash)
        }
    }

    mutating func removed(_ hash: KeyHash, because reason: Departure) {
        noteReplaced(hash, because: reason)
        set(.removed(reason), for: hash)
    }

    /// Notes why the item is gone in whose place another was stored before its removal could be written. What has been noted
    /// since could only guess.
    mutating func ended(_ hash: KeyHash, because reason: Departure) {
        guard let entry = entries[hash] else { return }
        switch entry.change {
        case .stored,
            .removed where entry.ended != nil:
            entries[hash]?.ended = End(
                order: entry.ended?.order ?? entry.order - 1, reason: reason, uses: entry.ended?.uses ?? 0)
        default: break
        }
    }

    /// Notes that an item is not on disk, unless there is a newer change.
    mutating func absent(_ hash: KeyHash) {
        if entries[hash] == nil, entries.count < Self.mostMisses { set(.absent, for: hash) }
    }

    /// Notes that an item may be gone, though it was used since it was last recorded.
    mutating func lost(_ hash: KeyHash) {
        switch entries[hash]?.change {
        case nil, .touched: set(.absent, for: hash)
        case .stored, .removed, .absent, .partialLost: break
        }
    }

    mutating func partialLost(_ hash: KeyHash) {
        set(.partialLost, for: hash)
    }

    /// Notes that an item was opened, which makes its partial useless.
    mutating func opened(_ hash: KeyHash) {
        opened.insert(hash)
    }

    /// Notes that a partial is not on disk, unless there is a newer change.
    mutating func partialAbsent(_ hash: KeyHash) {
        if entries[hash] == nil { set(.partialLost, for: hash) }
    }

    /// Counts the storing and the end of an item that has no row yet.
    private mutating func noteReplaced(_ hash: KeyHash, because reason: Departure) {
        guard let entry = entries[hash], case .stored(let row) = entry.change, row.kind == .item else {
            return
        }
        events.append((entry.order, row.storing, nil))
        if entry.uses > 0 {
            let read = row.event(.read(count: entry.uses, isFirst: true))
            events.append((entry.usedAt ?? entry.order, read, nil))
        }
        note(row.event(.left(reason, wasUsed: entry.uses > 0)), of: hash)
    }

    private mutating func note(_ event: UsageEvent, of hash: KeyHash? = nil) {
        events.append((next(), event, hash))
    }

    private mutating func next() -> UInt64 {
        lastOrder += 2
        return lastOrder
    }

    private mutating func set(_ change: Change, for hash: KeyHash) {
        var entry = Entry(order: next(), change: change)
        defer { entries[hash] = entry }
        guard let old = entries[hash] else { return }
        entry.ended = old.ended
        // A row, if there is one, is that of the item before the one that is pending.
        switch (old.change, change) {
        case (.touched, .touched): break
        case (.touched(let uses), .stored): entry.ended = End(order: old.order, reason: .replaced, uses: uses)
        case (.touched(let uses), _):
            entry.uses = uses
            entry.ended = nil
        case (.removed(let reason), .stored), (.removed(let reason), .touched):
            entry.ended = old.ended ?? End(order: old.order, reason: reason, uses: old.uses)
        case (.absent, .stored): entry.ended = End(order: old.order, reason: .purged, uses: old.uses)
        case (.stored, .removed):
            entry.ended = old.ended ?? End(order: old.order - 1, reason: .replaced, uses: 0)
        default: break
        }
    }

    /// Puts back changes that could not be written, as if they had never been taken.
    ///
    /// - Returns: Charged bytes of files that were removed meanwhile, and that no row will account for.
    mutating func restore(_ older: PendingChanges) -> Int64 {
        let newer = self
        self = older
        events += newer.events.map { (older.lastOrder + $0.order, $0.event, $0.hash) }
        for (key, noted) in newer.misses { missed(key, noted.count, at: older.lastOrder + noted.order) }
        if let noted = newer.otherMisses { missed(nil, noted.count, at: older.lastOrder + noted.order) }
        for (key, noted) in newer.declined where declined[key] == nil {
            declined[key] = (older.lastOrder + noted.order, noted.item)
        }
        opened.formUnion(newer.opened)
        furtherUses += newer.furtherUses
        places += newer.places
        for (_, hash, change) in newer.ordered {
            switch change {
            case .stored(var row):
                // The row of the item that was then quarantined was not written.
                if row.isRecorded, older.isUnrecorded(row.hash.inQuarantine) { row.isRecorded = false }
                stored(row)
            case .touched(let count): touched(hash, count: count)
            case .removed(let reason): removed(hash, because: reason)
            // The lookup preceded the failure to write the older change.
            case .absent: absent(hash)
            case .partialLost: partialLost(hash)
            }
        }
        return older.storedBytes + newer.storedBytes - storedBytes
    }

    /// The changes as they are to be written once more when they were counted.
    var withoutCounts: PendingChanges {
        var changes = self
        (changes.events, changes.misses, changes.declined, changes.otherMisses) = ([], [:], [:], nil)
        for (hash, entry) in entries {
            changes.entries[hash]?.uses = 0
            changes.entries[hash]?.ended = nil
            if case .touched = entry.change { changes.entries[hash] = nil }
        }
        return changes
    }

    private func isUnrecorded(_ hash: KeyHash) -> Bool {
        storedRow(hash).map { !$0.isRecorded } ?? false
    }
}

/// Writes changes to the tables, within one transaction.
///
/// The rows are written at once, so that an eviction finds them. The counters, the last number of the order
/// of use and the allowance are written once, at the end, however many changes there are.
struct ChangeWriting {
    private let catalog: Catalog
    private let transaction: CatalogTransaction
    private var sequence: Int64
    private var storedBytes: Int64 = 0
    /// Items that were gone before they could get a row, so that their uses are counted already.
    private var gone: Set<KeyHash> = []
    /// Whether there is a row of a kept partial. If there is none, storing an item need not look for one.
    private var hasPartials: Bool

    init(_ catalog: Catalog, to transaction: CatalogTransaction) throws {
        self.catalog = catalog
        self.transaction = transaction
        sequence = try transaction.lastUse()
        hasPartials = try transaction.hasPartials()
    }

    /// Writes the rows of a batch of changes.
    mutating func write(_ batch: PendingChanges) throws {
        var notes = batch.notes[...]
        for (order, hash, change) in batch.ordered {
            while let noted = notes.first?.order, noted < order, let (_, note) = notes.popFirst() {
                try write(note)
            }
            switch change {
            case .stored(let row) where row.kind == .partial: try writePartial(row)
            case .partialLost: try forgetPartial(hash)
            case .stored(let row):
                sequence += 1
                if row.kind == .item, hasPartials { try supersedePartial(of: hash) }
                // If another process has replaced the file meanwhile, that process writes its row; if it has removed or
                // evicted the file, there is no row.
                switch try lengthOnDisk(row) {
                case row.storedBytes:
                    try transaction.write(
                        row, lastUse: sequence, because: batch.entries[hash]?.ended?.reason ?? .replaced)
                case nil:
                    // Another process has opened, removed or evicted it, or the system has purged it.
                    try writeGone(row, of: batch)
                default:
                    // The other process's row ends this one, if there is one.
                    if try !transaction.isRecorded(row) { try countGone(row, of: batch, because: .replaced) }
                }
            case .touched(let count):
                if gone.remove(hash) != nil { continue }
                sequence += 1
                try transaction.noteUses(count, of: hash, lastUse: sequence)
            case .removed(let reason):
                if try !deleteRowIfGone(hash, because: reason), case .removed? = batch.entries[hash]?.change {
                    catalog.noteEnded(hash, because: reason)
                }
            case .absent: try deleteRowIfGone(hash, because: .purged)
            }
        }
        if hasPartials {
            for hash in batch.opened { try supersedePartial(of: hash) }
        }
        for (_, note) in notes { try write(note) }
        if batch.furtherUses > 0 {
            transaction.changes.note(UsageEvent(kind: .read(count: batch.furtherUses, isFirst: false)))
        }
        storedBytes += batch.storedBytes
    }

    /// Writes that an item is gone, which a reconciler may have found before.
    private mutating func writeGone(_ row: CatalogRow, of batch: PendingChanges) throws {
        guard try transaction.isRecorded(row) else {
            try transaction.deleteRow(row.hash, because: batch.entries[row.hash]?.ended?.reason ?? .replaced)
            return try countGone(row, of: batch, because: .purged)
        }
        if let uses = batch.entries[row.hash]?.uses, uses > 0 {
            gone.insert(row.hash)
            try transaction.noteUses(uses, of: row.hash, lastUse: nil)
        }
        try transaction.deleteRow(row.hash, because: .purged)
    }

    /// Counts an item that another process has replaced or removed, or the system has purged, before it got a row.
    private mutating func countGone(
        _ row: CatalogRow, of batch: PendingChanges, because reason: Departure
    ) throws {
        guard row.kind == .item else { return }
        let uses = batch.entries[row.hash]?.uses ?? 0
        try transaction.note(row.storing, of: nil)
        if uses > 0 {
            gone.insert(row.hash)
            try transaction.note(row.event(.read(count: uses, isFirst: true)), of: nil)
        }
        try transaction.note(row.event(.left(reason, wasUsed: uses > 0)), of: row.hash)
    }

    private func write(_ note: PendingChanges.Note) throws {
        switch note {
        case .event(let event, let hash): try transaction.note(event, of: hash)
        case .missed(let key, let count): try transaction.noteMissed(key, count: count)
        case .declined(let key, let item): try transaction.noteDeclined(key, item)
        }
    }

    /// - Returns: `false` if the item was stored again. Whoever has done that writes its row.
    @discardableResult
    private func deleteRowIfGone(_ hash: KeyHash, because reason: Departure) throws -> Bool {
        guard try catalog.files.storedBytes(of: hash) == nil else { return false }
        try transaction.deleteRow(hash, because: reason)
        return true
    }

    /// Writes everything else.
    func finish() throws {
        try transaction.setLastUse(sequence)
        try transaction.changeAllowance(of: catalog.environment.session, by: -storedBytes)
    }

    private func lengthOnDisk(_ row: CatalogRow) throws(FileSystemError) -> Int64? {
        // A quarantined file is never replaced or removed without a row.
        row.kind == .quarantined ? row.storedBytes : try catalog.files.storedBytes(of: row.hash)
    }
}

/// The rows of kept partials. A partial that is being written has none: its process's allowance covers it.
extension ChangeWriting {
    private mutating func writePartial(_ row: CatalogRow) throws {
        switch try catalog.files.state(ofPartial: row.hash) {
        case .kept(row.storedBytes):
            sequence += 1
            try transaction.write(row, lastUse: sequence)
            hasPartials = true
        case .kept(let length) where length > row.storedBytes:
            // Another writer has resumed it, and kept it again.
            break
        case .held: break
        case .absent, .kept:
            // The system purged it, wholly or in part.
            try remove(row.hash)
        }
    }

    private func forgetPartial(_ hash: KeyHash) throws {
        switch try catalog.files.state(ofPartial: hash) {
        case .absent: try transaction.deleteRow(hash)
        // The row belongs to an older partial.
        case .held(catalog.environment.session): try transaction.deleteRow(hash)
        case .held, .kept: break
        }
    }

    /// Removes the partial of a key that was stored or opened, which makes the partial useless.
    private func supersedePartial(of hash: KeyHash) throws {
        guard try transaction.chargedBytes(ofPartial: hash) != nil else { return }
        try remove(hash.ofPartial)
    }

    /// Removes the files of a partial, and its row when nothing is left.
    private func remove(_ hash: KeyHash) throws {
        let victim = Victim(hash: hash, key: "", kind: .partial, chargedBytes: 0, priority: 0)
        do {
            if try catalog.files.removal(of: victim).get() == .leased { return }
        } catch {
            return catalog.environment.logger.warning(
                "A partial cannot be removed.",
                metadata: ["item": "\(hash.hexadecimal)", "error": "\(error)"])
        }
        try transaction.deleteRow(hash)
    }
}

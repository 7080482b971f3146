internal import Foundation
internal import GRDB
package import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization
package import SystemPackage

/// The table of promotions in the ``Record``: which key was promoted, to which file.
struct Ledger: PromotionLedger {
    let record: Record

    var database: Record? { record }

    func entry(for hash: KeyHash) throws(CacheError) -> LedgerEntry? {
        try record.read { database in try LedgerEntry.fetch(hash, from: database) } ?? nil
    }

    func unfinished() throws(CacheError) -> [LedgerEntry] {
        try entries(
            "WHERE state = ? OR successor IS NOT NULL ORDER BY openedAt", [LedgerEntry.State.intent.rawValue])
    }

    private func entries(_ condition: String, _ arguments: StatementArguments) throws(CacheError)
        -> [LedgerEntry]
    {
        try record.read { database in
            try Row.fetchAll(
                database.cachedStatement(sql: "\(LedgerEntry.select) \(condition)"), arguments: arguments
            ).compactMap(LedgerEntry.init)
        } ?? []
    }

    func hashes() throws(CacheError) -> Set<KeyHash> {
        try record.read { database in
            try Set(Data.fetchAll(database, sql: "SELECT hash FROM promotion").compactMap(KeyHash.init))
        } ?? []
    }

    func committed(after hash: KeyHash?, atMost limit: Int) throws(CacheError) -> [LedgerEntry] {
        try record.read { database in
            var entries: [LedgerEntry] = []
            var last = hash?.data ?? Data()
            // An invalid row is skipped, and must not end the iteration.
            while entries.isEmpty {
                let rows = try Row.fetchAll(
                    database,
                    sql: LedgerEntry.select + " WHERE state = ? AND hash > ? ORDER BY hash LIMIT ?",
                    arguments: [LedgerEntry.State.committed.rawValue, last, limit])
                guard let next = try rows.last?.value(0, as: Data.self) else { break }
                entries = rows.compactMap(LedgerEntry.init)
                last = next
            }
            return entries
        } ?? []
    }

    func others(sharing entry: LedgerEntry) throws(CacheError) -> [LedgerEntry] {
        try entries(
            """
            WHERE hash <> ? AND (contentChecksum = ? AND contentLength = ?
                OR name = ? COLLATE NOCASE AND folder = ? COLLATE NOCASE AND area = ?
                OR \(LedgerEntry.enclosure))
            """,
            [
                entry.key.hash.data, Int64(bitPattern: entry.contentChecksum), entry.contentBytes,
                entry.name.string, entry.folder?.string ?? "", Int(entry.area.rawValue),
                Int(entry.area.rawValue), (entry.folder?.string ?? "") + "/",
            ])
    }

    func isPlaceOfAnother(_ entry: LedgerEntry) throws(CacheError) -> Bool {
        try record.read { database in
            let found = try Int.fetchOne(
                database.cachedStatement(sql: LedgerEntry.placeOfAnother),
                arguments: StatementArguments(entry.place))
            return found != nil
        } ?? false
    }

    func make(_ changes: [LedgerChange], flushing: Bool) throws(CacheError) -> Set<KeyHash> {
        var displaced: Set<KeyHash> = []
        try record.write(creating: changes.contains { $0.new != nil }) { database, log in
            try log.lengthen()
            try log.setFlushing(flushing, in: database)
            if let change = changes.first, changes.count == 1 {
                // A single statement is its own transaction.
                try Self.make(change, in: database, &displaced)
            } else {
                try database.committing(.immediate) {
                    for change in changes { try Self.make(change, in: database, &displaced) }
                }
            }
            log.noteWritten(in: database)
        }
        return displaced
    }

    private static func make(
        _ change: LedgerChange, in database: Database, _ displaced: inout Set<KeyHash>
    ) throws {
        guard let key = (change.new ?? change.old)?.key else { return }
        guard let isAnothers = try change.make(in: database) else { throw CacheError.overtaken(key) }
        if isAnothers { displaced.insert(key.hash) }
    }
}

/// The ledger at one moment, read without creating files next to it: see ``RecordImage``.
package struct LedgerSnapshot: Sendable {
    /// All promotions, complete or under way.
    package let entries: [LedgerEntry]

    /// Reads the ledger in an area.
    ///
    /// - Parameters:
    ///   - support: The open root of Application Support.
    ///   - path: The path of that root.
    /// - Returns: `nil` when there is no ledger.
    /// - Throws: ``CacheError/newerLedger(version:)``, ``CacheError/fileSystem(_:)`` or
    ///   ``CacheError/database(name:message:)``.
    package init?(in support: Directory, at path: FilePath) throws(CacheError) {
        guard let root = try onFiles({ () throws(FileSystemError) in try support.open(CacheLayout.root) })
        else { return nil }
        let isThere = try Self.isThere(CacheLayout.record, in: root)
        if !isThere, try !Self.isThere(EarlierRecord.ledger, in: root) { return nil }
        do {
            let queue = try RecordImage.open(in: root, at: path.pushing(CacheLayout.root))
            entries = try queue.read { database in
                try Row.fetchAll(database, sql: LedgerEntry.select).compactMap(LedgerEntry.init)
            }
            try queue.close()
        } catch {
            throw CacheError(error, ofDatabase: "ledger")
        }
    }

    private static func isThere(_ name: String, in root: Directory) throws(CacheError) -> Bool {
        try onFiles(root.fileSystem.attributes(of: FilePath(name), in: root.descriptor))?.kind == .regular
    }
}

/// The durable table that promotion needs, see ``Ledger``.
protocol PromotionLedger: Sendable {
    /// The database that it is a table of; `nil` for one that is simulated.
    var database: Record? { get }

    func entry(for hash: KeyHash) throws(CacheError) -> LedgerEntry?

    /// The promotions that were begun and not completed, and those whose file is about to be replaced.
    func unfinished() throws(CacheError) -> [LedgerEntry]

    /// The hashes of all keys that have an entry, complete or under way.
    func hashes() throws(CacheError) -> Set<KeyHash>

    /// At most `limit` committed promotions, in the order of their hashes: those after `hash`, or the first.
    func committed(after hash: KeyHash?, atMost limit: Int) throws(CacheError) -> [LedgerEntry]

    /// The entries of other keys that may have the same file: those with the same content, as an identical file is adopted
    /// rather than stored twice, and those in the same place. Reads all entries.
    func others(sharing entry: LedgerEntry) throws(CacheError) -> [LedgerEntry]

    /// Whether another key was promoted to the place of an entry. Names that differ in the case of letters `A` to `Z` count
    /// as one: a file system may equate them.
    func isPlaceOfAnother(_ entry: LedgerEntry) throws(CacheError) -> Bool

    /// Makes all changes or none, even in a crash.
    ///
    /// - Parameter flushing: Whether they are durable when it returns. Otherwise they become durable with the next
    ///   ones that are, or with ``Record/checkpoint()``; a power cut before that undoes them.
    /// - Returns: Those of the written keys whose places are another key's, see ``isPlaceOfAnother(_:)``.
    /// - Throws: ``CacheError/overtaken(_:)`` when an entry is not what was expected; nothing has changed then.
    @discardableResult
    func make(_ changes: [LedgerChange], flushing: Bool) throws(CacheError) -> Set<KeyHash>
}

extension PromotionLedger {
    func entry(for key: ItemKey) throws(CacheError) -> LedgerEntry? {
        try entry(for: key.hash).flatMap { $0.key == key ? $0 : nil }
    }

    /// Hands all committed promotions to `body`, in the order of their hashes. Only a few are in memory at a
    /// time.
    func forEachCommitted(_ body: (LedgerEntry) throws(CacheError) -> Void) throws(CacheError) {
        var last: KeyHash?
        while true {
            let entries = try committed(after: last, atMost: 256)
            guard let hash = entries.last?.key.hash else { return }
            for entry in entries { try body(entry) }
            last = hash
        }
    }

    /// Makes all changes or none. Durable when it returns.
    @discardableResult
    func make(_ changes: [LedgerChange]) throws(CacheError) -> Set<KeyHash> {
        try make(changes, flushing: true)
    }

    /// Enters a promotion, or a new state of it. Durable when it returns.
    ///
    /// - Parameter old: The entry that it replaces; `nil` when there must be none.
    @discardableResult
    func put(_ entry: LedgerEntry, replacing old: LedgerEntry?) throws(CacheError) -> Set<KeyHash> {
        try make([LedgerChange(old: old, new: entry)])
    }

    /// Drops an entry. Durable when it returns.
    func remove(_ entry: LedgerEntry) throws(CacheError) {
        try make([LedgerChange(old: entry, new: nil)])
    }
}

/// The hashes of all keys in the ledger, promoted or under way, so that storing an item need not query the ledger.
///
/// They are read again when promotions were entered, once as many lookups have gone to the ledger as make that worth it.
/// 16 bytes per key.
final class PromotedKeys: Sendable {
    private struct Snapshot: Sendable {
        let generation: RecordFingerprint?
        let hashes: Set<KeyHash>
        /// How many keys were looked up in the ledger since they have changed.
        var lookups = 0
    }

    /// Reading so many hashes takes about as long as one lookup.
    private static let hashesPerLookup = 32

    private let ledger: any PromotionLedger
    private let snapshot = UnfairMutex<Snapshot?>(nil)

    init(_ ledger: any PromotionLedger) {
        self.ledger = ledger
    }

    /// The promotion of a key, complete or under way.
    ///
    /// - Complexity: One system call if the key has none and no promotions were entered since the last call.
    func entry(for hash: KeyHash) throws(CacheError) -> LedgerEntry? {
        if let record = ledger.database {
            let hashes = try hashes(at: record.generation(), isUrgent: false)
            if let hashes, !hashes.contains(hash) { return nil }
        }
        return try ledger.entry(for: hash)
    }

    func all() throws(CacheError) -> Set<KeyHash> {
        guard let record = ledger.database else { return try ledger.hashes() }
        if let hashes = try hashes(at: record.generation(), isUrgent: true) { return hashes }
        return try ledger.hashes()
    }

    /// - Parameter isUrgent: Whether to read them if they have changed, however many there are.
    /// - Returns: `nil` while they are being changed, or if they have changed.
    private func hashes(at generation: RecordFingerprint?, isUrgent: Bool) throws(CacheError) -> Set<KeyHash>?
    {
        if generation?.isUnderWay == true { return nil }
        let (known, isWorthReading) = snapshot.withLock { snapshot in
            guard let known = snapshot else { return (nil as Set<KeyHash>?, true) }
            if known.generation == generation { return (known.hashes, false) }
            snapshot?.lookups += 1
            return (nil, known.lookups * Self.hashesPerLookup >= known.hashes.count)
        }
        guard known == nil, isUrgent || isWorthReading else { return known }
        // The generation was looked at before reading, so a change in between is read again.
        let fresh = Snapshot(generation: generation, hashes: try ledger.hashes())
        snapshot.withLock { $0 = fresh }
        return fresh.hashes
    }
}

internal import PrefetchItemFormat

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

internal import FileSystem
internal import ItemFormat

/// What promotion asks of its durable record, see ``Ledger``.
protocol PromotionLedger: Sendable {
    /// The attributes of the ledger's file, which change with every promotion; `nil` before the first.
    func attributes() throws(CacheError) -> FileAttributes?

    func entry(for key: ItemKey) throws(CacheError) -> LedgerEntry?

    /// The promotions that were begun and not completed.
    func intents() throws(CacheError) -> [LedgerEntry]

    /// The hashes of all promoted keys.
    func committedHashes() throws(CacheError) -> Set<KeyHash>

    /// Enters promotions, or replaces the entries of the same keys: all of them or none, whatever happens.
    /// Durable when it returns.
    func put(_ entries: [LedgerEntry]) throws(CacheError)

    /// Drops the entry of a key. Durable when it returns.
    func remove(_ key: ItemKey) throws(CacheError)

    func close() throws(CacheError)
}

extension PromotionLedger {
    /// Enters one promotion, or replaces the entry of the same key. Durable when it returns.
    func put(_ entry: LedgerEntry) throws(CacheError) { try put([entry]) }
}

internal import FileSystem
internal import ItemFormat

/// What promotion asks of its durable record, see ``Ledger``.
protocol PromotionLedger: Sendable {
    /// What changes with every promotion; `nil` before the first.
    func fingerprint() throws(CacheError) -> LedgerFingerprint?

    func entry(for key: ItemKey) throws(CacheError) -> LedgerEntry?

    /// The promotions that were begun and not completed.
    func intents() throws(CacheError) -> [LedgerEntry]

    /// All promotions that are complete, in the order of opening.
    func committed() throws(CacheError) -> [LedgerEntry]

    /// The hashes of all promoted keys.
    func committedHashes() throws(CacheError) -> Set<KeyHash>

    /// Enters promotions, or replaces the entries of the same keys: all of them or none, whatever happens.
    /// Durable when it returns.
    func put(_ entries: [LedgerEntry]) throws(CacheError)

    /// Drops the entry of a key. Durable when it returns.
    func remove(_ key: ItemKey) throws(CacheError)

    /// Whether there is anything for ``tidy()`` to do.
    var isUntidy: Bool { get }

    /// Brings what was entered into one file. Nothing that was durable depends on it.
    func tidy() throws(CacheError)

    func close() throws(CacheError)
}

/// The attributes of a ledger's files.
struct LedgerFingerprint: Sendable, Hashable {
    let file: FileAttributes
    /// That of the log, which has what is newer than the file.
    var log: FileAttributes?

    /// Milliseconds since 1970.
    var lastChange: Int64 { max(file.modified, log?.modified ?? .min) / 1_000_000 }
}

extension PromotionLedger {
    /// Enters one promotion, or replaces the entry of the same key. Durable when it returns.
    func put(_ entry: LedgerEntry) throws(CacheError) { try put([entry]) }
}

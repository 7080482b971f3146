internal import FileSystem
internal import ItemFormat

/// The durable record that promotion needs, see ``Ledger``.
protocol PromotionLedger: Sendable {
    /// A value that changes with every promotion; `nil` before the first.
    func fingerprint() throws(CacheError) -> LedgerFingerprint?

    func entry(for key: ItemKey) throws(CacheError) -> LedgerEntry?

    /// The promotions that were begun and not completed.
    func intents() throws(CacheError) -> [LedgerEntry]

    /// The hashes of all promoted keys.
    func committedHashes() throws(CacheError) -> Set<KeyHash>

    /// At most `limit` committed promotions, in the order of their hashes: those after `hash`, or the first.
    func committed(after hash: KeyHash?, atMost limit: Int) throws(CacheError) -> [LedgerEntry]

    /// Whether another key has the same file: one that is identical is adopted rather than stored twice.
    func isShared(_ entry: LedgerEntry) throws(CacheError) -> Bool

    /// Enters promotions, or replaces the entries of the same keys: all of them or none, even in a crash.
    /// Durable when it returns.
    func put(_ entries: [LedgerEntry]) throws(CacheError)

    /// Drops the entry of a key. Durable when it returns.
    func remove(_ key: ItemKey) throws(CacheError)

    /// Whether there is anything for ``tidy()`` to do.
    var isUntidy: Bool { get }

    /// Copies the log into the main file. Durability does not depend on it.
    func tidy() throws(CacheError)

    func close() throws(CacheError)
}

/// The attributes of a ledger's files.
struct LedgerFingerprint: Sendable, Hashable {
    let file: FileAttributes
    /// The attributes of the log, which holds what is newer than the file.
    var log: FileAttributes?

    /// When one of the files was last changed, in milliseconds since 1970.
    var lastChange: Int64 { max(file.modified, log?.modified ?? .min) / 1_000_000 }
}

extension PromotionLedger {
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

    /// Enters one promotion, or replaces the entry of the same key. Durable when it returns.
    func put(_ entry: LedgerEntry) throws(CacheError) { try put([entry]) }
}

internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization

/// The hashes of all keys in the ledger, promoted or under way, so that storing an item need not query the ledger.
///
/// They are read again when the ledger has changed, which costs a `stat` per lookup. 16 bytes per key.
final class PromotedKeys: Sendable {
    private struct Snapshot: Sendable {
        var fingerprint: LedgerFingerprint?
        var hashes: Set<KeyHash> = []
    }

    /// Time stamps have the resolution of the kernel's clock tick, at most 10 ms: a recently changed file may change
    /// again without a new time stamp.
    private static let unstableMilliseconds: Int64 = 20

    private let ledger: any PromotionLedger
    private let now: @Sendable () -> Int64
    private let snapshot = UnfairMutex<Snapshot?>(nil)

    /// - Parameter now: The time in milliseconds since 1970.
    init(_ ledger: any PromotionLedger, now: @escaping @Sendable () -> Int64) {
        self.ledger = ledger
        self.now = now
    }

    /// The promotion of a key, complete or under way.
    func entry(for hash: KeyHash) throws(CacheError) -> LedgerEntry? {
        let fingerprint = try ledger.fingerprint()
        var hashes = known(at: fingerprint)
        // While it is unstable, each lookup would read them all.
        if hashes == nil, isStable(fingerprint) { hashes = try read(at: fingerprint) }
        if let hashes, !hashes.contains(hash) { return nil }
        return try ledger.entry(for: hash)
    }

    func all() throws(CacheError) -> Set<KeyHash> {
        let fingerprint = try ledger.fingerprint()
        if let hashes = known(at: fingerprint) { return hashes }
        return try read(at: fingerprint)
    }

    private func known(at fingerprint: LedgerFingerprint?) -> Set<KeyHash>? {
        snapshot.withLock { $0?.fingerprint == fingerprint ? $0?.hashes : nil }
    }

    private func isStable(_ fingerprint: LedgerFingerprint?) -> Bool {
        fingerprint?.lastChange ?? 0 < now() - Self.unstableMilliseconds
    }

    private func read(at fingerprint: LedgerFingerprint?) throws(CacheError) -> Set<KeyHash> {
        // The fingerprint was taken before reading, so a change in between is read again.
        let fresh = Snapshot(fingerprint: fingerprint, hashes: try ledger.hashes())
        let isStable = isStable(fingerprint)
        snapshot.withLock { $0 = isStable ? fresh : nil }
        return fresh.hashes
    }
}

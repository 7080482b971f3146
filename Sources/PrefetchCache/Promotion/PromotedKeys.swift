internal import FileSystem
internal import ItemFormat
internal import Synchronization

/// The hashes of all promoted keys, so that storing an item need not query the ledger.
///
/// They are read again when the ledger's files have changed, which costs two `stat`s per lookup. 16 bytes per
/// promoted key.
final class PromotedKeys: Sendable {
    private struct Snapshot: Sendable {
        var fingerprint: LedgerFingerprint?
        var hashes: Set<KeyHash> = []
    }

    /// Time stamps are as coarse as the kernel's clock tick, at most 10 ms: a file that was changed just now
    /// may change again without a new time stamp.
    private static let settlingMilliseconds: Int64 = 20

    private let ledger: any PromotionLedger
    private let now: @Sendable () -> Int64
    private let snapshot = Mutex<Snapshot?>(nil)

    /// - Parameter now: The time in milliseconds since 1970.
    init(_ ledger: any PromotionLedger, now: @escaping @Sendable () -> Int64) {
        self.ledger = ledger
        self.now = now
    }

    func contains(_ hash: KeyHash) throws(CacheError) -> Bool { try all().contains(hash) }

    func all() throws(CacheError) -> Set<KeyHash> {
        let fingerprint = try ledger.fingerprint()
        if let snapshot = snapshot.withLock({ $0 }), snapshot.fingerprint == fingerprint {
            return snapshot.hashes
        }
        // The fingerprint is from before the reading, so a change in between is read again.
        let fresh = Snapshot(fingerprint: fingerprint, hashes: try ledger.committedHashes())
        let isSettled = fingerprint?.lastChange ?? 0 < now() - Self.settlingMilliseconds
        snapshot.withLock { $0 = isSettled ? fresh : nil }
        return fresh.hashes
    }
}

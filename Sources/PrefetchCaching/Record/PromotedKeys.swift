internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization

/// The hashes of all keys in the ledger, promoted or under way, so that storing an item need not query the ledger.
///
/// They are read again when another process has changed the record, once as many lookups have gone to the ledger as make
/// that worth it. 16 bytes per key.
final class PromotedKeys: Sendable {
    private struct Snapshot: Sendable {
        var fingerprint: RecordFingerprint
        var hashes: Set<KeyHash>
        /// How many keys were looked up in the ledger since the record has changed.
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
    /// - Complexity: One system call if the key has none and the record is as it was.
    func entry(for hash: KeyHash) throws(CacheError) -> LedgerEntry? {
        if let record = ledger.database {
            guard let fingerprint = try record.fingerprint() else { return nil }
            var hashes = known(at: fingerprint)
            if hashes == nil, isWorthReading(at: fingerprint) { hashes = try read(at: fingerprint) }
            if let hashes, !hashes.contains(hash) { return nil }
        }
        return try ledger.entry(for: hash)
    }

    func all() throws(CacheError) -> Set<KeyHash> {
        guard let fingerprint = try ledger.database?.fingerprint() else { return try ledger.hashes() }
        if let hashes = known(at: fingerprint) { return hashes }
        return try read(at: fingerprint)
    }

    /// Notes that nothing about promotions has changed between two fingerprints.
    func carry(from old: RecordFingerprint?, to new: RecordFingerprint?) {
        guard let old, let new else { return }
        snapshot.withLock { if $0?.fingerprint == old { $0?.fingerprint = new } }
    }

    private func known(at fingerprint: RecordFingerprint) -> Set<KeyHash>? {
        guard fingerprint.isOfLog else { return nil }
        return snapshot.withLock { $0?.fingerprint == fingerprint ? $0?.hashes : nil }
    }

    private func isWorthReading(at fingerprint: RecordFingerprint) -> Bool {
        guard fingerprint.isOfLog else { return false }
        return snapshot.withLock { snapshot in
            guard let known = snapshot else { return true }
            snapshot?.lookups += 1
            return known.lookups * Self.hashesPerLookup >= known.hashes.count
        }
    }

    private func read(at fingerprint: RecordFingerprint) throws(CacheError) -> Set<KeyHash> {
        // The fingerprint was taken before reading, so a change in between is read again.
        let fresh = Snapshot(fingerprint: fingerprint, hashes: try ledger.hashes())
        snapshot.withLock { $0 = fresh }
        return fresh.hashes
    }
}

internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization

/// The hashes of all keys in the ledger, promoted or under way, so that storing an item need not query the ledger.
///
/// They are read again when promotions were entered, once as many lookups have gone to the ledger as make that worth it.
/// 16 bytes per key.
final class PromotedKeys: Sendable {
    private struct Snapshot: Sendable {
        let generation: RecordGeneration?
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
    private func hashes(at generation: RecordGeneration?, isUrgent: Bool) throws(CacheError) -> Set<KeyHash>?
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

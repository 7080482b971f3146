internal import FileSystem
internal import ItemFormat
internal import Synchronization

/// The hashes of all promoted keys, so that storing an item need not ask the ledger.
///
/// Read again when the ledger's file has changed, which costs a `stat` per question. 16 bytes per
/// promoted key.
final class PromotedKeys: Sendable {
    private struct Snapshot: Sendable {
        var attributes: FileAttributes?
        var hashes: Set<KeyHash> = []
    }

    private let ledger: any PromotionLedger
    private let snapshot = Mutex<Snapshot?>(nil)

    init(_ ledger: any PromotionLedger) {
        self.ledger = ledger
    }

    func contains(_ hash: KeyHash) throws(CacheError) -> Bool {
        let attributes = try ledger.attributes()
        if let snapshot = snapshot.withLock({ $0 }), snapshot.attributes == attributes {
            return snapshot.hashes.contains(hash)
        }
        // The attributes are those from before the reading: what changes in between is read again.
        let fresh = Snapshot(attributes: attributes, hashes: try ledger.committedHashes())
        snapshot.withLock { $0 = fresh }
        return fresh.hashes.contains(hash)
    }
}

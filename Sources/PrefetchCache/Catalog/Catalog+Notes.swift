internal import ItemFormat

/// What the rest of the engine tells the catalog. It is kept in memory until the next transaction.
extension Catalog {
    /// An item has taken its place, for which `reserved` bytes were held.
    func noteStored(_ row: CatalogRow, reserved: Int64) {
        inMemory { state in
            // An item of the same key that no row accounted for went with the old file.
            if let old = state.pending.storedRow(row.hash) { state.allowance.unspend(old.chargedLength) }
            state.allowance.spend(row.chargedLength, reserved: reserved)
            state.pending.stored(row)
            state.pending.count(.stores)
        }
    }

    /// An item was used.
    func noteHit(_ hash: KeyHash) {
        inMemory { state in
            state.pending.touched(hash)
            state.pending.count(.hits)
        }
    }

    /// An item is not there. If the catalog has a row for it that nobody knows better of, it goes.
    func noteAbsent(_ hash: KeyHash) {
        inMemory { $0.pending.absent(hash) }
    }

    /// An item was asked for that is not there.
    func noteMiss(_ hash: KeyHash) {
        inMemory { state in
            state.pending.absent(hash)
            state.pending.count(.misses)
        }
    }

    /// A damaged item went to the quarantine, where it takes as much as before; without a row, it was
    /// gone already.
    func noteSetAside(_ hash: KeyHash, _ row: CatalogRow?) {
        guard var row else { return noteRemoved(hash) }
        inMemory { state in
            row.isSettled = state.pending.storedRow(hash) == nil
            state.pending.removed(hash)
            state.pending.stored(row)
        }
    }

    /// An item's file is gone.
    func noteRemoved(_ hash: KeyHash) {
        inMemory { state in
            if let old = state.pending.storedRow(hash) { state.allowance.unspend(old.chargedLength) }
            state.pending.removed(hash)
        }
    }
}

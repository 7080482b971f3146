internal import ItemFormat

/// What the rest of the engine tells the catalog. It is kept in memory until the next transaction.
extension Catalog {
    /// An item has taken its place, for which `reserved` bytes were held.
    func noteStored(_ row: CatalogRow, reserved: Int64) {
        inMemory { state in
            // An item of the same key that no row accounted for went with the old file.
            state.unspend(row.hash)
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
            // What was set aside before, under the same name, is replaced.
            state.unspend(row.hash)
            state.unspend(hash)
            if !row.isSettled { state.allowance.spend(row.chargedLength, reserved: 0) }
            state.pending.removed(hash)
            state.pending.stored(row)
        }
    }

    /// A partial is kept, for which `reserved` bytes were held, and nobody writes it any more.
    func noteKept(_ row: CatalogRow, reserved: Int64) {
        inMemory { state in
            state.unspend(row.hash)
            state.allowance.spend(row.chargedLength, reserved: reserved)
            state.pending.stored(row)
        }
    }

    /// The user has opened an item, which makes the partial of its key useless.
    func notePromoted(_ hash: KeyHash) {
        inMemory { state in
            state.pending.count(.promotions)
            state.pending.partialSuperseded(hash.ofPartial)
        }
    }

    /// A kept partial is gone, or will be part of what its writer holds.
    func notePartialGone(_ hash: KeyHash) {
        inMemory { state in
            state.unspend(hash.ofPartial)
            state.pending.partialGone(hash.ofPartial)
        }
    }

    /// A partial is not there. If the catalog has a row for it that nobody knows better of, it goes.
    func notePartialAbsent(_ hash: KeyHash) {
        inMemory { $0.pending.partialAbsent(hash.ofPartial) }
    }

    /// An item's file is gone.
    func noteRemoved(_ hash: KeyHash) {
        inMemory { state in
            state.unspend(hash)
            state.pending.removed(hash)
        }
    }
}

extension Catalog.State {
    /// A file is gone for which there is no row yet.
    fileprivate mutating func unspend(_ hash: KeyHash) {
        guard let old = pending.storedRow(hash), !old.isSettled else { return }
        allowance.unspend(old.chargedLength)
    }
}

internal import ItemFormat

/// The changes that the rest of the engine reports. They are kept in memory until the next transaction.
extension Catalog {
    /// Notes that an item was published, for which `reserved` bytes were held.
    func noteStored(_ row: CatalogRow, reserved: Int64) {
        inMemory { state in
            // An unsettled item of the same key was replaced with its file.
            state.unspend(row.hash)
            state.allowance.spend(row.chargedLength, reserved: reserved)
            state.pending.stored(row)
            state.pending.count(.stores)
        }
    }

    /// Notes that an item was used.
    func noteHit(_ hash: KeyHash) {
        inMemory { state in
            state.pending.touched(hash)
            state.pending.count(.hits)
        }
    }

    /// Notes that an item is not there. A row for it is deleted unless something newer is known.
    func noteAbsent(_ hash: KeyHash) {
        inMemory { $0.pending.absent(hash) }
    }

    /// Notes that an item was requested that is not there.
    func noteMiss(_ hash: KeyHash) {
        inMemory { state in
            state.pending.absent(hash)
            state.pending.count(.misses)
        }
    }

    /// Notes that a damaged item went to the quarantine, where it takes as much space as before. Without a
    /// row, it was gone already.
    func noteSetAside(_ hash: KeyHash, _ row: CatalogRow?) {
        guard var row else { return noteRemoved(hash) }
        inMemory { state in
            row.isSettled = state.pending.storedRow(hash) == nil
            // An earlier quarantined file of the same name was replaced.
            state.unspend(row.hash)
            state.unspend(hash)
            if !row.isSettled { state.allowance.spend(row.chargedLength, reserved: 0) }
            state.pending.removed(hash)
            state.pending.stored(row)
        }
    }

    /// Notes that a partial is kept, for which `reserved` bytes were held, and that its writer has ended.
    func noteKept(_ row: CatalogRow, reserved: Int64) {
        inMemory { state in
            state.unspend(row.hash)
            state.allowance.spend(row.chargedLength, reserved: reserved)
            state.pending.stored(row)
        }
    }

    /// Notes that the user has opened an item, which makes the partial of its key useless.
    func notePromoted(_ hash: KeyHash) {
        inMemory { state in
            state.pending.count(.promotions)
            state.pending.opened(hash)
        }
    }

    /// Notes that a kept partial is gone, or will be part of what its writer holds.
    func notePartialGone(_ hash: KeyHash) {
        inMemory { state in
            state.unspend(hash.ofPartial)
            state.pending.partialGone(hash.ofPartial)
        }
    }

    /// Notes that a partial is not there. A row for it is deleted unless something newer is known.
    func notePartialAbsent(_ hash: KeyHash) {
        inMemory { $0.pending.partialAbsent(hash.ofPartial) }
    }

    /// Notes that an item's file is gone.
    func noteRemoved(_ hash: KeyHash) {
        inMemory { state in
            state.unspend(hash)
            state.pending.removed(hash)
        }
    }
}

extension Catalog.State {
    /// Releases the charge of a file that is gone and had no row yet.
    fileprivate mutating func unspend(_ hash: KeyHash) {
        guard let old = pending.storedRow(hash), !old.isSettled else { return }
        allowance.unspend(old.chargedLength)
    }
}

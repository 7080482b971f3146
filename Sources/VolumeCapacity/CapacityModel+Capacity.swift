extension CapacityModel {
    /// Computes how much of the volume in `state` a cache may take, with every step of the derivation.
    ///
    /// More available bytes never lower any of the amounts.
    ///
    /// - Parameter cap: The caller's own limit in bytes. The smaller of it and the model's applies; a
    ///   negative one counts as 0.
    public func capacity(of state: VolumeState, cap: Int64? = nil) -> Capacity {
        let state = state.sanitized
        let (total, available, own) = (state.total, state.available, state.evictable)
        let reported = state.reported
        let low = low(total: total)
        let reserve = reserve(total: total)

        let reclaimable = Int128(available) + Int128(own) + Int128(state.purgeable)
        let important =
            reported?.important ?? Int64(clamping: reclaimable - Int128(low)).clamped(0, total)
        let opportunistic = (reported?.opportunistic ?? available - reserve).clamped(0, important)

        let ownOrFree = Int64(clamping: min(Int128(own) + Int128(available), Int128(total)))
        let share = share(of: ownOrFree)
        let room: Int64 =
            if reported?.opportunistic == nil {
                max(0, ownOrFree - reserve)
            } else {
                Int64(clamping: min(Int128(own) + Int128(opportunistic), Int128(total)))
            }
        let cap = max(0, min(cap ?? self.cap, self.cap))
        let quantum = quantum(total: total)

        return Capacity(
            state: state, low: low, reserve: reserve, ownOrFree: ownOrFree, important: important,
            opportunistic: opportunistic, share: share, room: room, cap: cap, quantum: quantum,
            budget: min(room, share, cap) / quantum * quantum,
            isImportantReported: reported?.important != nil,
            isOpportunisticReported: reported?.opportunistic != nil,
            thresholds: thresholds(low: low, reserve: reserve))
    }

    /// The budget that replaces `current` when the volume now allows `new`: it shrinks at once, and grows
    /// only when `new` is larger by at least ``growthPerMille``, so that it does not follow every file
    /// that another program deletes.
    ///
    /// - Parameter current: The budget in force, in bytes; `nil` when there is none yet. From `nil` and
    ///   from 0 the budget grows at once.
    public func budget(from current: Int64?, to new: Int64) -> Int64 {
        let new = max(0, new)
        guard let current = current.map({ max(0, $0) }), new > current else { return new }
        let growth = Int128(new - current) * 1000
        return growth >= Int128(current) * Int128(max(0, growthPerMille)) ? new : current
    }

    func low(total: Int64) -> Int64 {
        max(0, min(total.perMille(lowPerMille), lowLimit))
    }

    func reserve(total: Int64) -> Int64 {
        max(0, min(total.perMille(reservePerMille), reserveLimit))
    }

    private func quantum(total: Int64) -> Int64 {
        max(1, min(quantumLimit, total / max(1, quantumDivisor)))
    }

    private func share(of amount: Int64) -> Int64 {
        let firstEnd = max(0, firstShareEnd)
        let secondEnd = max(firstEnd, secondShareEnd)
        let first = min(amount, firstEnd).perMille(firstSharePerMille)
        let second = (min(amount, secondEnd) - firstEnd).perMille(secondSharePerMille)
        let last = (amount - secondEnd).perMille(lastSharePerMille)
        return Int64(clamping: Int128(first) + Int128(second) + Int128(last))
    }
}

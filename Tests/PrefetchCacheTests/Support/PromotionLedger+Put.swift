import PrefetchItemFormat

@testable import PrefetchCaching

extension PromotionLedger {
    /// Enters promotions in place of whatever there is.
    func put(_ entries: [LedgerEntry]) throws(CacheError) {
        var changes: [LedgerChange] = []
        for entry in entries { changes.append(LedgerChange(old: try self.entry(for: entry.key), new: entry)) }
        try make(changes)
    }

    func put(_ entry: LedgerEntry) throws(CacheError) { try put([entry]) }
}

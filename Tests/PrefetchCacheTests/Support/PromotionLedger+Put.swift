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

extension LedgerEntry {
    /// That of a file in Documents, whose name is all that tells it from others but its key.
    init(committed key: ItemKey, named name: FileName) {
        self.init(
            key: key, state: .committed, mode: .decode, area: .documents, folder: nil, name: name,
            plainName: name, backup: .include, contentBytes: 1, contentChecksum: 2,
            stagedName: "\(key.hash.hexadecimal)-0123456789abcdef-7", inode: 3, birthTime: 4, openedAt: 5)
    }
}

import Testing

@testable import PrefetchCaching

/// A ledger with somebody in between.
final class InterceptedLedger: PromotionLedger {
    private let ledger: any PromotionLedger
    private let before: @Sendable (_ call: String, _ changes: [LedgerChange]) throws(CacheError) -> Void
    private let afterReading: @Sendable (LedgerEntry?) throws -> Void

    /// - Parameters:
    ///   - before: Receives the name of each call, and what it changes.
    ///   - afterReading: Receives what was read of a key.
    init(
        _ ledger: any PromotionLedger,
        before: @escaping @Sendable (String, [LedgerChange]) throws(CacheError) -> Void = { _, _ in },
        afterReading: @escaping @Sendable (LedgerEntry?) throws -> Void = { _ in }
    ) {
        self.ledger = ledger
        self.before = before
        self.afterReading = afterReading
    }

    var database: Record? { ledger.database }

    func entry(for hash: KeyHash) throws(CacheError) -> LedgerEntry? {
        try before("entry", [])
        let entry = try ledger.entry(for: hash)
        do { try afterReading(entry) } catch { Issue.record(error) }
        return entry
    }

    func unfinished() throws(CacheError) -> [LedgerEntry] {
        try before("unfinished", [])
        return try ledger.unfinished()
    }

    func hashes() throws(CacheError) -> Set<KeyHash> {
        try before("hashes", [])
        return try ledger.hashes()
    }

    func committed(after hash: KeyHash?, atMost limit: Int) throws(CacheError) -> [LedgerEntry] {
        try before("committed", [])
        return try ledger.committed(after: hash, atMost: limit)
    }

    func others(sharing entry: LedgerEntry) throws(CacheError) -> [LedgerEntry] {
        try before("others", [])
        return try ledger.others(sharing: entry)
    }

    func isPlaceOfAnother(_ entry: LedgerEntry) throws(CacheError) -> Bool {
        try before("isPlaceOfAnother", [])
        return try ledger.isPlaceOfAnother(entry)
    }

    func make(_ changes: [LedgerChange], flushing: Bool) throws(CacheError) -> Set<KeyHash> {
        try before("make", changes)
        return try ledger.make(changes, flushing: flushing)
    }
}

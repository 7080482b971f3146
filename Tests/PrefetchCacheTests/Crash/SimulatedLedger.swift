import FileSystemTestSupport
import PrefetchFileSystem
import SystemPackage

@testable import PrefetchCaching

/// A ledger whose commits are operations of a simulated disk: one that returned is durable, unless it is
/// of a state that is not flushed, or not even entered.
struct SimulatedLedger: PromotionLedger {
    let fileSystem: SimulatedFileSystem
    var unflushed: Set<LedgerEntry.State> = []
    var omitted: Set<LedgerEntry.State> = []

    var database: Record? { nil }

    func entry(for hash: KeyHash) -> LedgerEntry? { fileSystem.records[hash.hexadecimal]?.entry }

    func unfinished() -> [LedgerEntry] { all.filter(\.isUnfinished) }

    func hashes() -> Set<KeyHash> { Set(all.map(\.key.hash)) }

    func committed(after hash: KeyHash?, atMost limit: Int) -> [LedgerEntry] {
        let later = all.filter { entry in
            entry.state == .committed && hash.map { $0 < entry.key.hash } ?? true
        }
        return Array(later.sorted { $0.key.hash < $1.key.hash }.prefix(limit))
    }

    func others(sharing entry: LedgerEntry) -> [LedgerEntry] {
        all.filter { other in
            other.key != entry.key
                && (other.contentBytes == entry.contentBytes
                    && other.contentChecksum == entry.contentChecksum || other.location == entry.location
                    || entry.isInside(other))
        }
    }

    func isPlaceOfAnother(_ entry: LedgerEntry) -> Bool {
        all.contains { $0.state == .committed && $0.key != entry.key && $0.location == entry.location }
    }

    func make(_ changes: [LedgerChange], flushing: Bool) throws(CacheError) -> Set<KeyHash> {
        let entered = changes.filter { change in !(change.new.map { omitted.contains($0.state) } ?? false) }
        guard let key = entered.lazy.compactMap({ ($0.new ?? $0.old)?.key }).first else { return [] }
        var values: [String: SimulatedRecord?] = [:]
        for change in entered {
            guard let key = (change.new ?? change.old)?.key else { continue }
            values.updateValue(written(by: change).map { SimulatedRecord($0) }, forKey: key.hash.hexadecimal)
        }
        let isFlushed =
            flushing && !entered.contains { $0.new.map { unflushed.contains($0.state) } ?? false }
        // What was omitted is not missed.
        let isChecked = omitted.isEmpty
        let isMade: Bool
        do {
            isMade = try fileSystem.commit(values, isFlushed: isFlushed) { records in
                !isChecked || entered.allSatisfy { $0.isExpected(in: records) }
            }
        } catch {
            throw .database(name: "ledger", message: "\(error)")
        }
        guard isMade else { throw .overtaken(key) }
        return Set(changes.compactMap(\.new).filter(isPlaceOfAnother).map(\.key.hash))
    }

    private func written(by change: LedgerChange) -> LedgerEntry? {
        guard change.isOfState, let new = change.new, var entry = entry(for: new.key.hash) else {
            return change.new
        }
        entry.state = new.state
        return entry
    }

    private var all: [LedgerEntry] { fileSystem.records.sorted { $0.key < $1.key }.compactMap(\.value.entry) }
}

extension SimulatedRecord {
    fileprivate var entry: LedgerEntry? { value as? LedgerEntry }
}

extension LedgerChange {
    fileprivate func isExpected(in records: [String: SimulatedRecord]) -> Bool {
        guard let key = (new ?? old)?.key else { return true }
        let found = records[key.hash.hexadecimal]?.entry
        return found?.stagedName == old?.stagedName && found?.state == old?.state
    }
}

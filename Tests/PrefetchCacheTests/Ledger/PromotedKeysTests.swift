import PrefetchFileSystem
import PrefetchItemFormat
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

@Suite struct PromotedKeysTests {
    /// A ledger that changes without a trace: within one tick of the kernel's clock.
    private final class TracelessLedger: PromotionLedger {
        let promoted = Mutex<Set<KeyHash>>([])
        let readings = Atomic<Int>(0)

        func fingerprint() -> LedgerFingerprint? {
            LedgerFingerprint(
                file: FileAttributes(
                    kind: .regular, identity: .init(device: 1, inode: 1), length: 4096, allocated: 4096,
                    linkCount: 1, owner: 0, permissions: [.ownerReadWrite], modified: 1_000_000_000))
        }

        func hashes() -> Set<KeyHash> {
            readings.wrappingAdd(1, ordering: .relaxed)
            return promoted.withLock { $0 }
        }

        func entry(for hash: KeyHash) -> LedgerEntry? {
            guard promoted.withLock({ $0.contains(hash) }) else { return nil }
            return LedgerEntry(committed: "key", named: "File")
        }
        func unfinished() -> [LedgerEntry] { [] }
        func committed(after hash: KeyHash?, atMost limit: Int) -> [LedgerEntry] { [] }
        func others(sharing entry: LedgerEntry) -> [LedgerEntry] { [] }
        func isPlaceOfAnother(_ entry: LedgerEntry) -> Bool { false }
        func make(_ changes: [LedgerChange], flushing: Bool) -> Set<KeyHash> { [] }
        var needsCheckpoint: Bool { false }
        func checkpoint() {}
        func close() {}
    }

    private let ledger = TracelessLedger()
    private let hash = ItemKey("key").hash

    @Test func aLedgerThatWasChangedJustNowIsReadAgain() throws {
        let keys = PromotedKeys(ledger, now: { 1_005 })
        #expect(try keys.entry(for: hash) == nil)
        ledger.promoted.withLock { _ = $0.insert(hash) }
        #expect(try keys.entry(for: hash) != nil)
        // For one key, not all are read.
        #expect(ledger.readings.load(ordering: .relaxed) == 0)
    }

    @Test func aLedgerThatHasSettledIsReadOnce() throws {
        let keys = PromotedKeys(ledger, now: { 1_500 })
        for _ in 0..<3 { #expect(try keys.entry(for: hash) == nil) }
        #expect(ledger.readings.load(ordering: .relaxed) == 1)
    }
}

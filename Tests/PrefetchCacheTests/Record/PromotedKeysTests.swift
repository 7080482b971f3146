import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

@Suite struct PromotedKeysTests {
    private let container = TemporaryContainer.make()
    private let root: Directory

    init() throws {
        root = try .openOrCreate(
            FilePath(container.support.path), permissions: CacheLayout.folderPermissions,
            in: LiveFileSystem())
    }

    /// The ledger as a process sees it.
    private func ledger() -> Ledger {
        Ledger(record: Record(in: root, at: FilePath(container.support.path)))
    }

    private func entry(_ number: Int) throws -> LedgerEntry {
        try LedgerEntry(committed: ItemKey("key \(number)"), named: FileName("File \(number)"))
    }

    /// Those of a process that counts how often it reads all of them.
    private func keys(of ledger: Ledger, _ readings: CallCounter) -> PromotedKeys {
        PromotedKeys(
            InterceptedLedger(
                ledger, before: { call, _ in if call == "hashes" { readings.next() } }))
    }

    /// Faster than the kernel's clock ticks.
    @Test func everyPromotionOfAnotherProcessIsSeenAtOnce() throws {
        let (other, keys) = (ledger(), keys(of: ledger(), CallCounter()))
        for number in 0..<300 {
            let entry = try entry(number)
            #expect(try keys.entry(for: entry.key.hash) == nil, "\(number)")
            try other.put(entry)
            #expect(try keys.entry(for: entry.key.hash) == entry, "\(number)")
        }
    }

    @Test func allAreReadOnceUntilTheRecordChanges() throws {
        let (other, readings) = (ledger(), CallCounter())
        let keys = keys(of: ledger(), readings)
        for number in 0..<100 { try other.put(entry(number)) }
        let absent = try entry(1000).key.hash
        for _ in 0..<10 { #expect(try keys.entry(for: absent) == nil) }
        #expect(readings.value == 1)
        try other.put(entry(100))
        // A few keys are looked up one by one.
        #expect(try keys.entry(for: entry(100).key.hash) != nil)
        #expect(readings.value == 1)
        for _ in 0..<10 { #expect(try keys.entry(for: absent) == nil) }
        #expect(readings.value == 2)
    }

    @Test func whatIsCountedLeavesThemAsTheyWere() throws {
        let (ledger, readings) = (ledger(), CallCounter())
        try ledger.put(entry(0))
        let keys = keys(of: ledger, readings)
        let absent = try entry(1).key.hash
        for _ in 0..<20 {
            #expect(try keys.entry(for: absent) == nil)
            try ledger.record.count(isWaiting: true) { database in
                try JournalTable.append([JournalEntry(time: 1, kind: .delivered)], to: database)
            }
        }
        #expect(readings.value == 1)
    }

    /// Between the two changes of the generation.
    @Test func whatAProcessHasEnteredThatDiedIsSeen() throws {
        let (other, readings) = (ledger(), CallCounter())
        let keys = keys(of: ledger(), readings)
        try other.put(entry(0))
        let absent = try entry(1).key.hash
        #expect(try keys.entry(for: absent) == nil)
        let fileSystem = root.fileSystem
        let file = try fileSystem.open("generation", in: root.descriptor, .readWrite)
        defer { fileSystem.close(file) }
        let generation = try #require(try other.record.generation())
        try fileSystem.resize(file, to: generation.length + 1)
        #expect(try keys.entry(for: entry(0).key.hash) == entry(0))
        #expect(try keys.entry(for: absent) == nil)
        #expect(readings.value == 1, "it is looked up while the generation is odd")
        try other.put(entry(1))
        #expect(try other.record.generation()?.length == generation.length + 4)
        #expect(try keys.entry(for: absent) == entry(1))
    }

    /// By the user's hand: it begins with the lengths of the old one.
    @Test func aGenerationThatBeginsAnewIsAnotherOne() throws {
        let other = ledger()
        let keys = keys(of: ledger(), CallCounter())
        try other.put(entry(0))
        let absent = try entry(1).key.hash
        #expect(try keys.entry(for: absent) == nil)
        let before = try #require(try other.record.generation())
        try root.fileSystem.unlink("generation", in: root.descriptor)
        try other.put(entry(1))
        #expect(try other.record.generation()?.length == before.length)
        #expect(try keys.entry(for: absent) == entry(1))
    }
}

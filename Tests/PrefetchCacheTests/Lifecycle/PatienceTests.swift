import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// How long a call waits, by a clock that goes on by a second whenever it is read.
@Suite struct PatienceTests {
    private let container = TemporaryContainer.make()
    private let folder: Directory
    private let clock = TestClock()

    init() throws {
        folder = try .openOrCreate(
            FilePath(container.root.path), permissions: .ownerReadWriteExecute, in: LiveFileSystem())
    }

    private func patience() -> Patience { Patience(uptime: { [clock] in .seconds(clock.advance()) }) }

    /// The seconds that a call waits in vain.
    private func wait(_ patience: Patience) -> Int64 {
        let start = clock.now
        #expect(!patience.wait { false })
        return clock.now - start
    }

    @Test func nobodyIsWaitedForLongerThanFiveSeconds() {
        #expect((5...6).contains(wait(patience())))
    }

    @Test func whoWaitsLooksEverMoreRarelyButOftenEnough() {
        let pauses = (0..<1000).map { Patience.microseconds(before: $0) }
        #expect(pauses == pauses.sorted() && pauses.first == 100 && pauses.last == 10_000)
        #expect(Patience.microseconds(before: .max) == 10_000)
        // A wait of 5 s.
        #expect(pauses.prefix(600).reduce(0, +) > 5_000_000)
    }

    /// Newcomers, which look more often, would otherwise always be first.
    @Test func whoIsAboutToGiveUpLooksAsOftenAsANewcomer() {
        let pauses = Mutex<[UInt32]>([])
        let passed = Atomic<Int>(0)
        let patience = Patience(
            uptime: { .microseconds(passed.load(ordering: .relaxed)) },
            sleep: { pause in
                pauses.withLock { $0.append(pause) }
                passed.add(Int(pause), ordering: .relaxed)
            })
        #expect(!patience.wait { false })
        let all = pauses.withLock { $0 }
        #expect(all.max() == 10_000)
        #expect(all.suffix(9900).allSatisfy { $0 == 100 })
        #expect((5_000_000...5_020_000).contains(all.reduce(0, +)))
    }

    @Test func whoIsBeingSuspendedWaitsForASecond() {
        let clock = clock
        let patience = Patience(
            uptime: { .seconds(clock.advance()) }, limit: { .seconds(clock.now > 3 ? 1 : 5) })
        #expect((3...5).contains(wait(patience)), "a call that waits already")
        #expect((1...3).contains(wait(patience)), "one that begins to")
    }

    @Test func nobodyWaitsForTheWaitingOfAnother() {
        let patience = patience()
        _ = wait(patience)
        for _ in 0..<3 { #expect(wait(patience) <= 2) }
        // After a while it is tried again.
        clock.advance(60)
        #expect(wait(patience) >= 5)
        patience.noteSuccess()
        #expect(wait(patience) >= 5)
    }

    @Test func whoLetsGoIsNotWaitedFor() {
        let patience = patience()
        let start = clock.now
        #expect(patience.wait { clock.now >= start + 3 })
        #expect((3...4).contains(clock.now - start))
    }

    /// As after this process was stopped, too: when the time is found to be up, nobody holds the lock any longer.
    @Test func aLockThatWasReleasedJustInTimeIsTaken() throws {
        let holder = try DatabaseHolder(container.root.appending(path: "record.sqlite"))
        let begin = Mutex<Int64?>(nil)
        let patience = Patience(
            uptime: { [clock] in
                let now = clock.advance()
                let isUp = begin.withLock { begin in
                    guard let start = begin, now >= start + 5 else { return false }
                    begin = nil
                    return true
                }
                if isUp { #expect(throws: Never.self) { try holder.letGo() } }
                return .seconds(now)
            })
        let ledger = Ledger(record: Record(in: folder, at: FilePath(container.root.path), patience))
        try ledger.put(entry("first"))
        try holder.hold()
        begin.withLock { $0 = clock.now + 1 }
        try ledger.put(entry("second"))
        try ledger.record.close()
    }

    /// The lock of the folder is free; it is SQLite that waits for a process which was stopped in the middle of a change.
    @Test func nobodyWaitsAgainForALedgerThatSQLiteCouldNotChange() throws {
        let ledger = Ledger(record: Record(in: folder, at: FilePath(container.root.path), patience()))
        try ledger.put(entry("first"))
        let stopped = try DatabaseHolder(container.root.appending(path: "record.sqlite"))
        /// The seconds that a change waits in vain.
        func change(_ key: ItemKey = "second") throws -> Int64 {
            let start = clock.now
            let error = try #require(throws: CacheError.self) { try ledger.put(entry(key)) }
            #expect(error.isBusy)
            return clock.now - start
        }

        try stopped.hold()
        #expect(try (5...8).contains(change()))
        for _ in 0..<3 { #expect(try change() <= 2) }
        try stopped.letGo()
        // It has let go: whoever holds it next is waited for again.
        try ledger.put(entry("second"))
        try stopped.hold()
        #expect(try change("third") >= 5)
        try stopped.letGo()
        try ledger.record.close()
    }

    private func entry(_ key: ItemKey) throws -> LedgerEntry {
        try LedgerEntry(committed: key, named: FileName(key.string))
    }
}

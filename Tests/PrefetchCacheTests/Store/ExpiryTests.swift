import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// Items that are worth keeping only for a time.
@Suite struct ExpiryTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws { engine = try container.engine(now: { 1000 }) }

    /// An engine whose clock stands where the test puts it.
    private func engine(at milliseconds: Int64) throws -> Engine {
        try container.engine(now: { milliseconds })
    }

    private func store(_ key: ItemKey, expiresAt: Int64?, priority: Float = 0) throws {
        try engine.store(noise(10_000), as: ItemMetadata(key, priority: priority, expiresAt: expiresAt))
    }

    private func expectExpired<Value>(_ lookup: Lookup<Value>) {
        guard case .miss(.expired) = lookup else { Issue.record("not expired"); return }
    }

    @Test func anItemIsThereUntilItsTimeAndThenAMissThatIsRemoved() throws {
        for key in ["read", "opened"] as [ItemKey] { try store(key, expiresAt: 5000) }
        let before = try engine(at: 4999)
        #expect(try before.content("read") == noise(10_000))
        #expect(try before.contains("read"))
        let after = try engine(at: 5000)
        #expect(try !after.contains("read"))
        expectExpired(try after.read("read", nil))
        expectExpired(try after.open("opened"))
        #expect(try container.chargedOnDisk() == 0)
        #expect(try container.files(below: container.documents) == [])
        try engine.flush()
        #expect(try after.statistics().items == 0)
        #expect(try after.read("read", nil).miss == .absent)
    }

    /// Nor is it listed, though it takes space until maintenance.
    @Test func whatHasExpiredIsRefusedRatherThanStoredInVain() throws {
        try store("cached", expiresAt: 5000)
        try engine.flush()
        let late = try engine(at: 5000)
        #expect(try late.items().isEmpty)
        let present = try late.statistics().items
        #expect(present == 1)
        var metadata = ItemMetadata("late", expiresAt: 5000)
        func storeLate(_ metadata: ItemMetadata) throws -> StoreOutcome {
            try late.store(noise(10_000), as: metadata)
        }
        #expect(try storeLate(metadata) == .refused(.expired))
        #expect(try late.refusal(of: metadata, expectedLength: 10_000, on: AdmissionTerms()) == .expired)
        #expect(try late.statistics().figures[.refusedExpired] == 2)
        #expect(!container.item("late").exists)
        metadata.expiresAt = 5001
        #expect(try storeLate(metadata).isStored)
        // The user gets it all the same.
        metadata = ItemMetadata("requested")
        (metadata.expiresAt, metadata.intent) = (5000, .userRequested)
        guard case .delivered = try storeLate(metadata) else { Issue.record("not delivered"); return }
    }

    @Test func anItemWhoseTimeEndsWhileItArrivesIsNotKept() throws {
        let times = CallCounter()
        let engine = try container.engine(now: { times.value == 0 ? 4999 : 5000 })
        let store = try engine.begin(ItemMetadata("slow", expiresAt: 5000), keepingPartial: true)
        try store.append(noise(2 << 20))
        _ = times.next()
        #expect(try store.commit() == .refused(.expired))
        #expect(try container.chargedOnDisk() == 0)
        #expect(try engine.partial(of: "slow") == nil)
    }

    @Test func whatHasExpiredIsTheFirstToGoWhateverItsPriorityAndItsLastUse() throws {
        try store("cold", expiresAt: nil)
        try store("later", expiresAt: 9000)
        try store("expired", expiresAt: 5000, priority: 1)
        try engine.flush()
        let later = try engine(at: 6000)
        _ = try later.evict(1)
        #expect(try later.items().map(\.key) == ["cold", "later"])
        _ = try later.evict(1)
        #expect(try later.items().map(\.key) == ["later"])
    }

    @Test func maintenanceRemovesWhatHasExpiredAndNothingElse() throws {
        for number in 0..<100 { try store(ItemKey(number: number), expiresAt: number % 2 == 0 ? 5000 : 7000) }
        try store("for ever", expiresAt: nil)
        try engine.flush()
        let later = try engine(at: 6000)
        try later.maintain()
        #expect(try later.statistics().items == 51)
        #expect(try later.statistics().evictions == 50)
        #expect(try later.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test func anExpiredItemThatSomebodyReadsIsPassedOver() throws {
        for number in 0..<3 { try store(ItemKey(number: number), expiresAt: 5000) }
        try engine.flush()
        let lease = try #require(try engine.folders.openItem(ItemKey(number: 0).hash))
        let later = try engine(at: 6000)
        try later.maintain()
        #expect(try later.statistics().items == 1)
        engine.environment.fileSystem.close(lease)
        try later.maintain()
        #expect(try later.statistics().items == 0)
    }
}

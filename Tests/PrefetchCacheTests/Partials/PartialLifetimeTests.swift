import Foundation
import Synchronization
import Testing

@testable import PrefetchCaching

/// When what is kept of an item goes, other than for want of space.
@Suite struct PartialLifetimeTests {
    private let container = TemporaryContainer.make()
    private let content = noise(1 << 20)

    private func keep(_ mebibytes: Int, _ key: ItemKey, in engine: Engine) throws {
        #expect(try engine.keep(content.prefix(mebibytes << 20), key) != nil)
    }

    private func keptKeys(_ engine: Engine) throws -> [ItemKey] {
        try (0..<10).map { try ItemKey(number: $0) }.filter { try engine.partial(of: $0) != nil }
    }

    @Test func itGoesWhenItsItemIsStoredByAnotherWay() throws {
        let engine = try container.engine()
        for number in 0..<2 { try keep(1, ItemKey(number: number), in: engine) }
        // Kept before the last flush, and after it.
        try engine.flush()
        try engine.store(noise(1000), ItemKey(number: 0))
        try engine.maintain()
        try keep(1, ItemKey(number: 2), in: engine)
        try engine.store(noise(1000), ItemKey(number: 2))
        try engine.maintain()
        #expect(try keptKeys(engine) == [ItemKey(number: 1)])
        try expectBooksLikeDisk(engine, container)
    }

    @Test func onePartialOfAnItemThatIsStoredAlreadyIsForItsNextVersion() throws {
        let engine = try container.engine()
        try engine.store(noise(1000), "item-0")
        try keep(1, "item-0", in: engine)
        try engine.flush()
        #expect(try keptKeys(engine) == [ItemKey(number: 0)])
        let (store, _) = try engine.resume("item-0")
        _ = try store.commit()
        #expect(try isSame(engine.content("item-0"), content.prefix(1 << 20)))
        try expectBooksAfterMaintenance(engine, container)
    }

    @Test func itGoesWhenItsItemIsOpened() throws {
        let engine = try container.engine()
        try engine.store(noise(1000), "item-0")
        try keep(1, "item-0", in: engine)
        let partial = try #require(try engine.partial(of: "item-0"))
        #expect(try engine.open("item-0").value != nil)
        try engine.maintain()
        #expect(try keptKeys(engine) == [])
        try expectBooksLikeDisk(engine, container)
        #expect(try engine.resume(partial, replay: { _ in })?.refusal?.reason == "alreadyPromoted")
    }

    @Test func itIsKeptForAWeekAndNoLonger() throws {
        let now = Atomic<Int64>(1_700_000_000_000)
        let engine = try container.engine(now: { now.load(ordering: .relaxed) })
        try keep(1, "item-0", in: engine)
        try keep(1, "item-1", in: engine)
        let partial = try #require(try engine.partial(of: "item-1"))
        now.add(PartialItem.lifetimeMilliseconds - 1, ordering: .relaxed)
        try engine.maintain()
        #expect(try keptKeys(engine).count == 2)
        now.add(1, ordering: .relaxed)
        #expect(try engine.resume(partial, replay: { _ in }) == nil)
        try engine.maintain()
        #expect(try container.partials() == [])
        try expectBooksLikeDisk(engine, container)
        #expect(try engine.statistics().partials == 0)
    }

    @Test func aResumedOneWaitsAnewAndOneFromTheFutureNoLonger() throws {
        let now = Atomic<Int64>(1_800_000_000_000)
        let engine = try container.engine(now: { now.load(ordering: .relaxed) })
        try keep(1, "item-0", in: engine)
        now.add(PartialItem.lifetimeMilliseconds - 1, ordering: .relaxed)
        _ = try engine.resume("item-0").store.suspend()
        now.add(PartialItem.lifetimeMilliseconds - 1, ordering: .relaxed)
        #expect(try engine.partial(of: "item-0") != nil)
        try engine.maintain()
        // The clock was wrong, and has been put right.
        now.store(1_700_000_000_000, ordering: .relaxed)
        try container.catalog.remove()
        _ = try engine.statistics()
        now.add(PartialItem.lifetimeMilliseconds, ordering: .relaxed)
        try engine.maintain()
        #expect(try container.partials() == [])
    }
}

import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// Contract 8: what is charged never exceeds the budget.
@Suite struct BudgetTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(8))
    private let budget = ByteCount.mebibytes(8)

    @Test func theFilesOnDiskNeverExceedTheBudget() throws {
        let watch = ChargeWatch(container)
        let engine = try container.engine(fileSystem: watch.fileSystem)
        for number in 0..<80 {
            let length = 100_000 + number * 1000
            #expect(try engine.store(noise(length), ItemKey(number: number)).isStored)
        }
        let charged = try container.chargedOnDisk()
        #expect(max(watch.mostBytes, charged) <= budget.bytes)
        #expect(charged > budget.bytes - 2 * 200_000)
    }

    @Test func whatRemainsIsJustWhatWasUsedLast() throws {
        let kept = Set(0..<5)
        for number in 0..<200 {
            // Every store and every read is a process of its own.
            let engine = try container.engine()
            try engine.store(noise(256 << 10, seed: UInt64(number)), ItemKey(number: number))
            if number % 10 == 9 {
                for number in kept.sorted() { #expect(try engine.content(ItemKey(number: number)) != nil) }
            }
            try engine.close()
        }
        let engine = try container.engine()
        let charge = ChargedLength(blockSize: 4096)
        let charged = try #require(try engine.items().first).chargedBytes
        #expect(charged == charge(storedBytes: try #require(try engine.items().first).storedBytes))
        let fitting = Int(budget.bytes / charged)
        let latest = Set((200 - (fitting - kept.count)..<200).map { "item-\($0)" })
        let expected = latest.union(kept.map { "item-\($0)" })
        #expect(Set(try engine.items().map(\.key.string)) == expected)
        #expect(try engine.statistics().evictions == 200 - fitting)
    }

    @Test func twoProcessesShareOneBudget() throws {
        let engines = [try container.engine(), try container.engine()]
        for number in 0..<120 {
            try engines[number % 2].store(noise(150_000, seed: UInt64(number)), ItemKey(number: number))
            #expect(try container.chargedOnDisk() <= budget.bytes)
        }
        for engine in engines { try engine.close() }
        let statistics = try container.engine().statistics()
        #expect(statistics.chargedBytes == (try container.chargedOnDisk()))
        #expect(statistics.items == (try container.files(below: container.items).count))
    }

    @Test func anItemLargerThanTheBudgetIsRefusedAndNothingIsLost() throws {
        let engine = try container.engine()
        try engine.store(noise(1000), "small")
        guard
            case .refused(.largerThanLargestItem(_, let largest)) = try engine.store(noise(9 << 20), "large")
        else { Issue.record("not refused"); return }
        #expect(largest == budget.bytes)
        #expect(try engine.content("small") == noise(1000))
        #expect(try engine.content("large") == nil)
        #expect(try engine.statistics().refusals == ["largerThanLargestItem": 1])
        #expect(try container.partials() == [])
    }

    @Test func aRefusalDoesNotCostTheOthersTheirPlace() throws {
        let engine = try container.engine()
        for number in 0..<20 { try engine.store(noise(100_000), ItemKey(number: number)) }
        #expect(try engine.store(noise(9 << 20), "large").refusal != nil)
        #expect(try engine.statistics().items == 20)
    }

    @Test func anItemOfUnknownLengthIsRefusedWhenItOutgrowsTheBudget() throws {
        let engine = try container.engine()
        let store = try engine.begin(ItemMetadata("key"))
        var refusal: Refusal?
        for piece in 0..<12 where refusal == nil {
            refusal = try store.offer(noise(1 << 20, seed: UInt64(piece)))
            #expect(try container.chargedOnDisk() <= budget.bytes)
        }
        #expect(refusal?.reason == "largerThanLargestItem")
        #expect(try container.chargedOnDisk() == 0)
    }

    @Test func whatAnotherProcessHasReservedIsNotGivenAway() throws {
        let first = try container.engine()
        let store = try first.begin(ItemMetadata("under way"), expectedLength: 6 << 20)
        let second = try container.engine()
        #expect(try second.store(noise(4 << 20), "late").refusal?.reason == "overBudget")
        #expect(try second.statistics().refusals == ["overBudget": 1])
        try store.cancel()
        try first.maintain()
        #expect(
            try second.store(noise(4 << 20), "late").isStored, "refused though the reservation was released")
    }

    @Test func theReservationOfAProcessThatDiedIsTakenBack() throws {
        let second = try container.engine()
        _ = try second.statistics()
        do {
            let dying = try container.engine()
            #expect(try dying.store(noise(6 << 20), "stored, and not written down").isStored)
        }
        #expect(
            try second.store(noise(4 << 20), "late").isStored, "refused because of somebody who is no more")
        #expect(try container.chargedOnDisk() <= budget.bytes)
        #expect(try second.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test func aReservationOutlivesTheCatalogThatKnewOfIt() throws {
        let first = try container.engine()
        let store = try first.begin(ItemMetadata("under way"), expectedLength: 6 << 20)
        try container.catalog.remove()
        let second = try container.engine()
        _ = try second.statistics()
        _ = try first.statistics()
        #expect(try second.store(noise(4 << 20), "late").refusal?.reason == "overBudget")
        try store.cancel()
    }

    @Test func aLargeKnownLengthIsRefusedBeforeTheFirstByte() throws {
        let engine = try container.engine()
        guard
            case .refused(let refusal) = try engine.beginStore(
                ItemMetadata("key"), encoding: .automatic, expectedLength: ItemLimits.contentBytes)
        else { Issue.record("not refused"); return }
        #expect(refusal.reason == "largerThanLargestItem")
        #expect(try container.partials() == [])
    }

    @Test func aSmallerBudgetEvictsAtOnce() throws {
        let engine = try container.engine()
        for number in 0..<20 { try engine.store(noise(300_000), ItemKey(number: number)) }
        try engine.configure(.fixed(.mebibytes(1)))
        #expect(try container.chargedOnDisk() <= 1 << 20)
        #expect(try engine.content(ItemKey(number: 19)) != nil)
    }

    @Test func eightThreadsStayWithinTheBudget() throws {
        let watch = ChargeWatch(container)
        let engine = try container.engine(fileSystem: watch.fileSystem)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                for number in 0..<12 {
                    try engine.store(
                        noise(200_000 + 19_000 * number, seed: UInt64(thread)),
                        ItemKey(number: thread * 100 + number))
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(watch.mostBytes <= budget.bytes)
        try engine.close()
        #expect(try container.engine().statistics().chargedBytes == container.chargedOnDisk())
    }
}

import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// Contract 8: what is charged never exceeds the budget.
@Suite struct BudgetTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(8))
    private let budget = ByteCount.mebibytes(8)

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
        for number in 0..<20 { try engine.store(noise(100_000), ItemKey(number: number)) }
        guard
            case .refused(.largerThanLargestItem(_, let largest)) = try engine.store(noise(9 << 20), "large")
        else { Issue.record("not refused"); return }
        #expect(largest == budget.bytes)
        #expect(try engine.statistics().items == 20)
        #expect(try engine.content("large") == nil)
        #expect(try engine.statistics().refusals == ["largerThanLargestItem": 1])
        #expect(try container.partials() == [])
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

    @Test func aLargeKnownLengthIsRefusedBeforeTheFirstByte() throws {
        let engine = try container.engine()
        guard
            case .refused(let refusal) = try engine.beginStore(
                ItemMetadata("key"), encoding: .automatic, expectedLength: ItemLimits.contentBytes)
        else { Issue.record("not refused"); return }
        #expect(refusal.reason == "largerThanLargestItem")
        #expect(try container.partials() == [])
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
        #expect((budget.bytes / 2...budget.bytes).contains(watch.mostBytes))
        try engine.close()
        #expect(try container.engine().statistics().chargedBytes == container.chargedOnDisk())
    }
}

import Foundation
import Testing

@testable import PrefetchCaching

/// An item makes those of its own and of lower priorities go, and no others.
@Suite struct PriorityTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws { engine = try container.engine() }

    private func configure(_ policy: EvictionPolicyChoice) throws {
        try engine.configure(.fixed(.mebibytes(8))) {
            $0.largestItem = .mebibytes(8)
            $0.evictionPolicy = policy
        }
    }

    @discardableResult
    private func store(
        _ key: ItemKey, _ priority: Float, _ length: Int = 1_900_000, expiresAt: Int64? = nil
    ) throws -> StoreOutcome {
        let metadata = ItemMetadata(key, priority: priority, expiresAt: expiresAt)
        return try engine.store(noise(length), as: metadata)
    }

    private var keys: Set<String> { get throws { Set(try engine.items().map(\.key.string)) } }

    @Test(arguments: EvictionPolicyChoice.allCases)
    func anItemIsRefusedWhenOnlyItemsOfAHigherPriorityCouldMakeRoom(_ policy: EvictionPolicyChoice) throws {
        try configure(policy)
        for number in 0..<4 { try store(ItemKey(number: number), 0.5) }
        let all = try keys
        #expect(try store("low", 0.25) == .refused(.lowPriority(0.25)))
        #expect(try keys == all)
        #expect(try engine.statistics().refusals == ["lowPriority": 1])

        // Those of its own priority make room …
        #expect(try store("same", 0.5).isStored)
        #expect(try keys == ["item-1", "item-2", "item-3", "same"])
        // … and so do those of a lower one, before them.
        #expect(try store("high", 1).isStored)
        #expect(try keys == ["item-2", "item-3", "same", "high"])
        #expect(try store("higher still", 1, 4_000_000).isStored)
        #expect(try keys.isSuperset(of: ["high", "higher still"]))
    }

    @Test func itemsOfALowerPriorityGoOnlyWhenTheyMakeRoomEnough() throws {
        try configure(.lru)
        for number in 0..<3 { try store(ItemKey(number: number), 1) }
        try store("low", 0)
        let all = try keys
        #expect(try store("middle", 0.5, 3_000_000) == .refused(.lowPriority(0.5)))
        #expect(try keys == all)
        #expect(try store("middle", 0.5).isStored)
        #expect(try keys == ["item-0", "item-1", "item-2", "middle"])
    }

    @Test func whereItemsOfAHigherPriorityWouldNotDoEitherTheBudgetIsTheReason() throws {
        try configure(.lru)
        let other = try container.engine()
        let underWay = try other.begin(ItemMetadata("under way"), expectedLength: 2 << 20)
        for number in 0..<3 { try store(ItemKey(number: number), 1) }
        #expect(try store("large", 0, 7 << 20).refusal?.reason == "overBudget")
        try underWay.cancel()
    }

    @Test func whatHasExpiredGoesWhateverItsPriority() throws {
        try configure(.lru)
        for number in 0..<4 { try store(ItemKey(number: number), 1, expiresAt: 1_700_000_500_000) }
        let later = try container.engine(now: { 1_800_000_000_000 })
        #expect(try later.store(noise(1_900_000), "new").isStored)
    }

    @Test func underPressureOfTheBudgetThePrioritiesAreAnOrderAndNoBar() throws {
        try configure(.lru)
        for number in 0..<4 { try store(ItemKey(number: number), 1) }
        try engine.configure(.fixed(.mebibytes(4)))
        #expect(try keys == ["item-2", "item-3"])
    }
}

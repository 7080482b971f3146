import FileSystemTestSupport
import Foundation
import PrefetchVolumeCapacity
import Testing

@testable import PrefetchCaching

/// What a rehearsal foretells, compared with what maintenance then does on a real volume.
@Suite(
    .enabled(if: SmallVolume.isPossible, "Mounting a volume needs root on Linux."), .serialized)
struct PressureRehearsalTests {
    private static let content = noise(1 << 20)

    enum Shortage: String, CaseIterable, Sendable {
        case smallerBudget, elevated, low, critical

        func available(_ thresholds: PressureThresholds) -> Int64 {
            switch self {
            case .smallerBudget: thresholds.elevated.leave + 20 << 20
            case .elevated: thresholds.elevated.enter - 3 << 20
            case .low: thresholds.low.enter - 1 << 20
            case .critical: thresholds.critical.enter - 1 << 20
            }
        }
    }

    @Test(arguments: SmallVolume.kinds, Shortage.allCases)
    func whatIsForetoldIsWhatHappens(_ kind: SmallVolume.Kind, _ shortage: Shortage) throws {
        let volume = try SmallVolume(kind, megabytes: 200)
        let container = try TemporaryContainer(in: volume.root)
        let engine = try container.engine(probe: nil)
        for number in 0..<100 {
            // A quarter of them is worth more than the others.
            let metadata = ItemMetadata(
                key: try ItemKey(number: number), destination: .documents("item"),
                priority: number % 4 == 0 ? 0.5 : 0)
            _ = try Self.content.withBytes { bytes throws(CacheError) in
                try engine.store(bytes, as: metadata, encoding: .automatic)
            }
        }
        try engine.maintain()
        // What the volume allocates later changes its free space, and with it the budget.
        try volume.settle()
        let items = try engine.items()
        let statistics = try engine.statistics()
        let available = shortage.available(try engine.capacity().capacity.thresholds)
        let foretold = try engine.rehearse(available: available)
        #expect(try engine.items() == items)
        #expect(try engine.statistics() == statistics)
        #expect(items.allSatisfy { FileManager.default.fileExists(atPath: container.item($0.key).path) })

        try volume.leave(available)
        #expect(try engine.capacity().pressure == foretold.pressure)
        var count: Int
        repeat {
            count = try engine.items().count
            try engine.maintain()
        } while try engine.items().count < count
        let left = Set(try engine.items().map(\.key))
        #expect(foretold.evicted.compactMap(\.key) == items.map(\.key).filter { !left.contains($0) })
        #expect(foretold.remainingItems == left.count)
        let after = try engine.capacity()
        #expect(foretold.after.pressure == after.pressure && foretold.after.refusal == after.refusal)
        #expect(foretold.after.chargedBytes == after.chargedBytes)
        #expect(foretold.after.budgetBytes == after.budgetBytes)
        try engine.close()
    }
}

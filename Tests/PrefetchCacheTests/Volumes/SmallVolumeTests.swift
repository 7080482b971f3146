import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// An automatic budget on real volumes of 200 MB, of which an outsider takes more and more.
@Suite(.enabled(if: SmallVolume.isPossible, "Mounting a volume needs root on Linux."), .serialized)
struct SmallVolumeTests {
    /// What an item is made of; its key is what makes it another.
    private static let content = noise(1 << 20)

    /// A cache on a volume, and what is done to it.
    private final class World {
        let volume: SmallVolume
        let container: TemporaryContainer
        let engine: Engine
        let events: CacheEvents
        private var number = 0
        private var record = AttackRecord("disk.small-volumes", of: "looks at a volume whose space is taken")

        init(_ kind: SmallVolume.Kind) throws {
            volume = try SmallVolume(kind, megabytes: 200)
            container = try TemporaryContainer(in: volume.root)
            engine = try container.engine(probe: nil)
            events = engine.events.stream()
        }

        func store() throws -> StoreOutcome {
            number += 1
            return try engine.store(content, ItemKey(number: number))
        }

        /// Stores until something has to go, and then some more.
        func fill() throws {
            let before = try engine.statistics().evictions
            for _ in 0..<200 where try engine.statistics().evictions < before + 5 {
                #expect(try store().isStored)
                try expectWithinBudget()
            }
            #expect(try engine.statistics().evictions >= before + 5)
        }

        @discardableResult
        func maintain(leaving bytes: Int64) throws -> CapacityReport {
            try volume.leave(bytes)
            try engine.maintain()
            return try expectWithinBudget()
        }

        @discardableResult
        func expectWithinBudget() throws -> CapacityReport {
            let report = try engine.capacity()
            expectExplained(report)
            // The catalog cannot give way to what the volume cannot even spare for it.
            #expect(report.usedBytes <= max(report.ceilingBytes, report.catalogBytes))
            record.cases += 1
            record.note(charged: try container.chargedOnDisk(), budget: report.ceilingBytes)
            #expect(record.isHarmless)
            return report
        }

        /// Every number of a report follows from others that it names.
        func expectExplained(_ report: CapacityReport) {
            let capacity = report.capacity
            #expect(capacity.ownOrFree == capacity.state.available + capacity.state.evictable)
            #expect(capacity.room == max(0, capacity.ownOrFree - capacity.reserve))
            let least = min(capacity.room, capacity.share, capacity.cap)
            let rounded = least / capacity.quantum * capacity.quantum
            #expect(capacity.budget == (least == capacity.cap ? least : rounded))
            #expect(report.budgetBytes <= capacity.budget)
            #expect(report.ceilingBytes == min(report.budgetBytes, capacity.room))
            #expect(report.largestItemBytes == min(report.budgetBytes / 2, report.ceilingBytes))
            let level = capacity.thresholds.level(at: capacity.state.available, after: report.pressure)
            #expect(report.pressure == level)
            #expect(report.refusal == (level == .normal ? nil : .pressure(level)))
        }

        /// The levels that were reported, in their order. The cache is closed then.
        func levels() async throws -> [Pressure] {
            record.report()
            try engine.close()
            var levels: [Pressure] = []
            for await event in events { if case .pressure(let level) = event { levels.append(level) } }
            return levels
        }
    }

    @Test(
        .enabled(
            if: SmallVolume.kinds.contains(.ext4),
            "An ext4 needs root, mkfs.ext4 and a loop device; only a tmpfs is tried."))
    func theVolumesAreAsLargeAsTheyWereAskedFor() throws {
        for kind in SmallVolume.kinds {
            let volume = try SmallVolume(kind, megabytes: 200)
            #expect((150 << 20...200 << 20).contains(try volume.available))
            try volume.leave(20 << 20)
            #expect(abs(try volume.available - 20 << 20) <= 64 << 10)
            try volume.fill()
            #expect(try volume.available == 0)
        }
    }

    @Test(arguments: SmallVolume.kinds)
    func theCacheFillsUpToItsBudgetAndStaysThere(kind: SmallVolume.Kind) async throws {
        let world = try World(kind)
        try world.fill()
        let full = try world.expectWithinBudget()
        #expect(full.usedBytes > full.budgetBytes * 8 / 10)
        #expect(full.budgetBytes > 30 << 20)

        try world.fill()
        let later = try world.expectWithinBudget()
        #expect(abs(later.budgetBytes - full.budgetBytes) <= full.capacity.quantum)
        #expect(try await world.levels().allSatisfy { $0 == .normal })
    }

    @Test(arguments: SmallVolume.kinds)
    func theBudgetShrinksWithTheVolumeUntilNothingIsAdmittedAndThenComesBack(
        kind: SmallVolume.Kind
    ) async throws {
        let world = try World(kind)
        try world.fill()
        var last = try world.expectWithinBudget()
        let elevated = last.capacity.thresholds.elevated
        for available in stride(from: elevated.leave + 40 << 20, to: elevated.enter, by: -10 << 20) {
            let report = try world.maintain(leaving: available)
            #expect(report.budgetBytes <= last.budgetBytes)
            last = report
        }
        // What the cache gives up, the outsider takes, until there is nothing left to give up.
        for _ in 0..<40 where last.chargedBytes > 0 || last.pressure == .normal {
            let report = try world.maintain(leaving: elevated.enter - 3 << 20)
            #expect(report.budgetBytes <= last.budgetBytes)
            last = report
        }
        #expect(last.chargedBytes == 0)
        #expect(last.pressure == .elevated)
        #expect(try world.store() == .refused(.pressure(.elevated)))

        // Above where the level begins it lasts, and ends where it says.
        #expect(try world.maintain(leaving: (elevated.enter + elevated.leave) / 2).pressure == .elevated)
        #expect(try world.store() == .refused(.pressure(.elevated)))
        #expect(try world.maintain(leaving: elevated.leave + 40 << 20).pressure == .normal)
        try world.fill()
        #expect(try world.expectWithinBudget().chargedBytes > 5 << 20)
        let levels = try await world.levels()
        #expect(levels.contains(.elevated))
        #expect(levels.allSatisfy { $0 <= .elevated })
    }

    @Test(arguments: SmallVolume.kinds)
    func atCriticalPressureEverythingGoesThatIsNotPinnedOrOpen(kind: SmallVolume.Kind) async throws {
        let world = try World(kind)
        try world.fill()
        let items = try world.engine.items()
        let pinned = [items[0], items[7]]
        let leases = try pinned.map {
            try #require(try world.engine.folders.openItem($0.key.hash))
        }
        let critical = try world.expectWithinBudget().capacity.thresholds.critical
        try world.volume.leave(critical.enter - 1 << 20)
        try world.engine.maintain()
        #expect(try world.engine.items().map(\.key) == pinned.map(\.key))
        for item in pinned { #expect(try world.engine.content(item.key) == Self.content) }
        leases.forEach(world.engine.environment.fileSystem.close)

        try world.volume.leave(critical.enter - 1 << 20)
        try world.engine.maintain()
        #expect(try world.engine.items().isEmpty)
        #expect(try world.store() == .refused(.pressure(.critical)))

        try world.maintain(leaving: 150 << 20)
        try world.fill()
        let levels = try await world.levels()
        #expect(levels.first { $0 != .normal } == .critical)
        #expect(levels.last == .normal)
    }
}

extension CapacityReport {
    fileprivate var usedBytes: Int64 { chargedBytes + heldBytes + catalogBytes }
}

import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// The same on every file system: nothing of what the cache promises depends on one of them.
@Suite(.serialized)
struct FileSystemMatrixTests {
    private static let kinds = TestRun.sample(1, of: SmallVolume.Kind.allCases.filter { $0 != .tmpfs })

    private struct World {
        let volume: SmallVolume
        let container: TemporaryContainer
        let engine: Engine

        /// - Parameter reserve: Thousandths of the volume.
        init(
            _ kind: SmallVolume.Kind, reserve: Int64 = 0, budget: CacheConfiguration.Budget,
            _ fileSystem: any FileSystem = LiveFileSystem()
        ) throws {
            guard SmallVolume.all.contains(kind) else {
                try Test.cancel("No volume of \(kind.rawValue): it needs root, a loop device and its mkfs.")
            }
            try self.init(on: SmallVolume(kind, megabytes: 320), reserve: reserve, budget: budget, fileSystem)
        }

        init(
            on volume: SmallVolume, reserve: Int64 = 0, budget: CacheConfiguration.Budget,
            _ fileSystem: any FileSystem = LiveFileSystem()
        ) throws {
            self.volume = volume
            container = try TemporaryContainer(in: volume.root)
            engine = try container.engine(fileSystem: fileSystem, probe: nil)
            try engine.configure(budget) { $0.capacityModel.reservePerMille = reserve }
        }

        /// Incompressible items of 1 MiB, or prose of so much.
        func store(_ count: Int, _ encoding: ItemEncoding = .identity) throws {
            for number in 0..<count {
                let outcome = try engine.store(
                    FileSystemMatrixTests.content(number, encoding), ItemKey(number: number),
                    encoding: .forced(encoding))
                #expect(outcome.isStored, "\(outcome)")
            }
            try engine.flush()
        }

        func expectSound() throws {
            let report = try engine.repair(isDryRun: true)
            #expect(report.steps.isEmpty && report.failures.isEmpty, "\(report)")
        }
    }

    private static func content(_ number: Int, _ encoding: ItemEncoding) -> Data {
        encoding == .identity ? noise(1 << 20, seed: UInt64(number)) : prose(1 << 20, seed: UInt64(number))
    }

    @Test(arguments: kinds, [ItemEncoding.identity, .lz4])
    func whatIsStoredIsReadAndOpenedAndCharged(kind: SmallVolume.Kind, encoding: ItemEncoding) throws {
        let world = try World(kind, budget: .fixed(.mebibytes(64)))
        try world.store(12, encoding)
        for number in 0..<12 {
            #expect(try world.engine.content(ItemKey(number: number)) == Self.content(number, encoding))
        }
        let charged = try world.engine.items().reduce(0) {
            $0 + world.engine.charge(storedBytes: $1.storedBytes)
        }
        #expect(try world.engine.statistics().chargedBytes == charged)
        // One by itself, and the others together.
        let first = try #require(try world.engine.open(ItemKey(number: 0)).value)
        let others = try world.engine.open((1..<12).map { try ItemKey(number: $0) }).map {
            try #require(try $0.get().value)
        }
        for (number, opened) in ([first] + others).enumerated() {
            #expect(opened.isFirstOpen)
            #expect(try isSame(Data(contentsOf: opened.url), Self.content(number, encoding)))
            #expect(try world.engine.open(ItemKey(number: number)).value?.isFirstOpen == false)
        }
        try world.engine.flush()
        #expect(try world.engine.statistics().items == 0)
        try world.expectSound()
    }

    @Test(arguments: kinds)
    func whatIsEvictedIsTheOldestAndGone(kind: SmallVolume.Kind) throws {
        let world = try World(kind, budget: .fixed(.mebibytes(10)))
        try world.store(20)
        let kept = try world.engine.items().map(\.key)
        #expect((7...9).contains(kept.count))
        let youngest = try (20 - kept.count..<20).map { try ItemKey(number: $0) }
        #expect(kept == youngest)
        #expect(try world.container.chargedOnDisk() <= 10 << 20)
        #expect(try world.engine.evict(.max) > 0)
        #expect(try world.container.chargedOnDisk() == 0)
        try world.volume.settle()
        try world.expectSound()
    }

    /// The budget follows from what is free, and trimming does not lower it.
    @Test(arguments: kinds)
    func trimmingAgainAndAgainStopsAtTheBudget(kind: SmallVolume.Kind) throws {
        let world = try World(kind, reserve: 150, budget: .automatic)
        try world.store(35)
        let reserve = try world.engine.capacity().capacity.reserve
        try world.volume.leave(reserve - 8 << 20)
        let budget = try world.engine.capacity().capacity.budget
        #expect(budget > 15 << 20)
        for _ in 0..<8 { try world.engine.maintain() }
        let charged = try world.engine.statistics().chargedBytes
        #expect(charged <= budget && charged > budget * 8 / 10, "\(charged) of \(budget)")
    }

    /// As with `cp -al`: nothing that the cache removes frees a byte.
    @Test(arguments: kinds)
    func trimmingStopsAtTheBudgetWhereOtherLinksKeepTheItems(kind: SmallVolume.Kind) throws {
        let world = try World(kind, reserve: 150, budget: .automatic)
        try world.store(35)
        let items = world.container.items
        let links = world.volume.root.appending(path: "links")
        try FileManager.default.createDirectory(at: links, withIntermediateDirectories: false)
        for (number, file) in try world.container.files(below: items).enumerated() {
            try FileManager.default.linkItem(
                at: items.appending(path: file), to: links.appending(path: "\(number)"))
        }
        let reserve = try world.engine.capacity().capacity.reserve
        try world.volume.leave(reserve - 8 << 20)
        let budget = try world.engine.capacity().capacity.budget
        for _ in 0..<8 {
            try world.engine.maintain()
            try world.volume.settle()
            try world.engine.admission.trimToBudget()
        }
        let charged = try world.engine.statistics().chargedBytes
        #expect(charged <= budget && charged > budget * 8 / 10, "\(charged) of \(budget)")
    }

    /// Far more could give way than what is asked for.
    @Test(arguments: kinds)
    func whatTheUserAsksForFindsRoomAtTheExpenseOfItems(kind: SmallVolume.Kind) throws {
        let world = try World(kind, budget: .fixed(.mebibytes(128)))
        let store = try #require(try Self.beginWanted(world).begun)
        try store.append(mebibytes: 40)
        let item = try #require(try store.commit().delivered)
        #expect(try FileManager.default.attributesOfItem(atPath: item.path.string)[.size] as? Int == 40 << 20)
        #expect(try (25...40).contains(world.engine.statistics().items))
        try world.expectSound()
    }

    /// A cache that believes what the volume shows at once finds too little: the matrix notices it.
    @Test func onBtrfsSpaceComesLater() throws {
        let world = try World(
            .btrfs, budget: .fixed(.mebibytes(128)), InterceptingFileSystem(with: [.noSynchronize]))
        #expect {
            _ = try Self.beginWanted(world)
        } throws: { error in
            guard case CacheError.insufficientSpace = error else { return false }
            return true
        }
    }

    /// A user-requested item that is longer than what is free.
    private static func beginWanted(_ world: World) throws -> Engine.BegunStore<UnfinishedStore> {
        try world.store(60)
        try world.volume.leave(30 << 20)
        let metadata = ItemMetadata("wanted", intent: .userRequested)
        return try world.engine.beginStore(metadata, encoding: .automatic, expectedLength: 40 << 20)
    }

    @Test(arguments: kinds)
    func underPressureItemsGiveWayUntilTheVolumeHasRoom(kind: SmallVolume.Kind) throws {
        let world = try World(kind, budget: .fixed(.mebibytes(128)))
        try world.store(60)
        let low = try world.engine.capacity().capacity.thresholds.low
        try world.volume.leave(low.enter - 2 << 20)
        try world.engine.maintain()
        try world.volume.settle()
        #expect(try world.volume.available >= low.leave)
        #expect(try world.engine.statistics().items > 30)
    }

    /// Nothing was flushed but what was opened.
    @Test(arguments: kinds, [ItemEncoding.identity, .lz4])
    func aDeadProcessIsRecoveredFrom(kind: SmallVolume.Kind, encoding: ItemEncoding) throws {
        let volume = try World(kind, budget: .fixed(.mebibytes(64))).volume
        for fatal in 1... {
            let world = try World(on: volume, budget: .fixed(.mebibytes(64)))
            try world.store(2, encoding)
            try world.engine.close()
            let died = try die(atChange: fatal * 3, in: world)
            let next = try world.container.engine(probe: nil)
            let opened = try #require(try next.open(ItemKey(number: 0)).value)
            #expect(try isSame(Data(contentsOf: opened.url), Self.content(0, encoding)))
            #expect(try next.content(ItemKey(number: 1)) == Self.content(1, encoding))
            #expect(try world.container.staged() == [])
            if !died { return }
        }
    }

    /// - Returns: Whether there were so many changes.
    private func die(atChange fatal: Int, in world: World) throws -> Bool {
        let fileSystem = InterceptingFileSystem()
        let doomed = try world.container.engine(fileSystem: fileSystem, probe: nil)
        let changes = CallCounter()
        fileSystem.die(before: { $0.isChange && changes.next() == fatal })
        do {
            _ = try doomed.open(ItemKey(number: 0))
            return false
        } catch {
            return true
        }
    }

    /// The coldest ones, which are the first to make way.
    @Test(arguments: kinds, [ItemEncoding.identity, .lz4])
    func onAFullVolumeItemsThatAreOpenedTogetherDoNotMakeWayForEachOther(
        kind: SmallVolume.Kind, encoding: ItemEncoding
    ) throws {
        let world = try World(kind, budget: .fixed(.mebibytes(64)))
        try world.store(20, encoding)
        try world.engine.close()
        try world.volume.fill()
        let engine = try world.container.engine(probe: nil)
        for (number, result) in zip(0..., engine.open(try (0..<4).map { try ItemKey(number: $0) })) {
            let opened = try #require(try result.get().value)
            #expect(try isSame(Data(contentsOf: opened.url), Self.content(number, encoding)))
        }
        #expect(try engine.statistics().items >= (encoding == .identity ? 12 : 2))
    }
}

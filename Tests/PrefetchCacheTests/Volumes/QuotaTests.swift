import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A used-up quota, which nothing shows before a write fails with `EDQUOT`.
@Suite struct QuotaTests {
    private let container = TemporaryContainer.make()
    private let volume = SimulatedVolume(total: 1 << 40, available: 1 << 39)
    private let engine: Engine

    init() throws {
        engine = try container.engine(fileSystem: InterceptingFileSystem(on: volume), probe: nil)
        try engine.configure(.fixed(.mebibytes(64)))
        for number in 0..<20 {
            try engine.store(
                noise(1 << 20, seed: UInt64(number)), ItemKey(number: number), encoding: .forced(.lz4))
        }
        try engine.flush()
        #expect(try engine.statistics().items == 20)
    }

    /// - Parameter number: Of the item; the oldest would be the first to make way.
    @Test(arguments: [0, 19])
    func anItemOpensAtTheExpenseOfOthers(number: Int) throws {
        volume.limit(to: volume.used + 100_000)
        let opened = try #require(try engine.open(ItemKey(number: number)).value)
        #expect(try Data(contentsOf: opened.url) == noise(1 << 20, seed: UInt64(number)))
        #expect(try (16...18).contains(engine.statistics().items))
        #expect(try container.staged() == [])
    }

    /// - Parameter first: The oldest are the first to make way, but not for each other, and no more than for one.
    @Test(arguments: [0, 16])
    func severalItemsOpenAtTheExpenseOfOthers(first: Int) throws {
        volume.limit(to: volume.used + 100_000)
        let keys = try (first..<first + 4).map { try ItemKey(number: $0) }
        for (number, result) in zip(first..., engine.open(keys)) {
            let opened = try #require(try result.get().value)
            #expect(try Data(contentsOf: opened.url) == noise(1 << 20, seed: UInt64(number)))
        }
        #expect(try (12...14).contains(engine.statistics().items))
    }

    /// As on btrfs, which wants to have some megabytes free for a moment before it changes a name.
    @Test(arguments: [ItemEncoding.lz4, .identity], [false, true])
    func aNameThatNeedsMuchRoomIsGivenAtTheExpenseOfOthers(encoding: ItemEncoding, together: Bool) throws {
        let keys: [ItemKey] = ["one", "two"]
        for key in keys { try engine.store(noise(5 << 20), key, encoding: .forced(encoding)) }
        try engine.flush()
        let volume = volume
        let enough = volume.used - 3 << 20
        let (refusals, writes) = (CallCounter(), CallCounter())
        let fileSystem = InterceptingFileSystem(on: volume) { operation throws(FileSystemError) in
            if operation.kind == .write, operation.name.count > 33 { _ = writes.next() }
            guard operation.kind == .rename, operation.newName == "one", volume.used > enough else { return }
            _ = refusals.next()
            throw FileSystemError("rename", errno: .noSpace)
        }
        let other = try container.engine(fileSystem: fileSystem, probe: nil)
        if together {
            for result in other.open(keys) { #expect(try result.get().value != nil) }
        } else {
            #expect(try other.open("one").value?.isFirstOpen == true)
        }
        #expect(refusals.next() > 1)
        // What was staged is not staged again.
        #expect(writes.next() <= (encoding == .lz4 ? 12 : 0))
        #expect(try other.statistics().items > 8)
    }

    /// What does not help must not cost the whole cache.
    @Test func whatFailsForWantOfRoomWhateverMakesWayCostsAFewMegabytes() throws {
        let fileSystem = InterceptingFileSystem(on: volume) { operation throws(FileSystemError) in
            guard operation.kind == .rename, operation.newName?.hasPrefix("item-") == true else { return }
            throw FileSystemError("rename", errno: .noSpace)
        }
        let other = try container.engine(fileSystem: fileSystem, probe: nil)
        let error = try #require(throws: CacheError.self) { _ = try other.open(ItemKey(number: 19)) }
        #expect(error.isOutOfSpace)
        #expect(try other.statistics().items >= 10)
        fileSystem.intercept { _ in }
        #expect(try other.open(ItemKey(number: 19)).value != nil)
    }

    @Test(arguments: [nil, 3 << 20] as [Int64?])
    func whatTheUserAskedForIsDeliveredAtTheExpenseOfOthers(expectedLength: Int64?) throws {
        volume.limit(to: volume.used + 100_000)
        let store = try engine.beginDelivery("wanted", expectedLength: expectedLength)
        try store.append(mebibytes: 3)
        let item = try #require(try store.commit().delivered)
        #expect(try Data(contentsOf: item.url).count == 3 << 20)
        #expect(try (10...17).contains(engine.statistics().items))
    }

    @Test func whereNothingCanMakeWayTheErrorIsThatOfTheQuota() throws {
        let pins = try (0..<20).map { try #require(try engine.folders.openItem(ItemKey(number: $0).hash)) }
        defer { pins.forEach(engine.environment.fileSystem.close) }
        volume.limit(to: volume.used)
        let error = try #require(throws: CacheError.self) { _ = try engine.open(ItemKey(number: 3)) }
        #expect(error.isOutOfSpace)
        #expect(try engine.statistics().items == 20)
        volume.limit(to: nil)
        #expect(try engine.open(ItemKey(number: 3)).value != nil)
    }

    @Test func aGuessIsRefusedAndNothingGoesForIt() throws {
        volume.limit(to: volume.used)
        #expect(try engine.store(noise(1 << 20), "new") == .refused(.full))
        #expect(try engine.statistics().items == 20)
    }

    /// Not even a lock file can be made before something has made way.
    @Test func theFilesOfAnOpenFindRoomAtTheExpenseOfOthers() throws {
        try engine.close()
        let volume = volume
        let used = volume.used
        let fileSystem = InterceptingFileSystem(on: volume) { operation throws(FileSystemError) in
            guard operation.isCreating, volume.used >= used else { return }
            throw FileSystemError("open", errno: .diskQuotaExceeded)
        }
        let other = try container.engine(fileSystem: fileSystem, probe: nil)
        #expect(try other.open(ItemKey(number: 5)).value?.isFirstOpen == true)
        #expect(try (15...18).contains(other.statistics().items))
    }
}

/// A real quota, that of a btrfs subvolume. It holds for root as well, and `statvfs` does not show it.
@Suite(.serialized) struct SubvolumeQuotaTests {
    private let volume: SmallVolume
    private let container: TemporaryContainer
    private let engine: Engine

    init() throws {
        guard SmallVolume.all.contains(.btrfs) else {
            try Test.cancel("No quota of a btrfs: it needs root, a loop device and btrfs-progs.")
        }
        volume = try SmallVolume(.btrfs, megabytes: 320)
        container = try TemporaryContainer(in: volume.root)
        engine = try container.engine(probe: nil)
        for number in 0..<12 {
            try engine.store(
                noise(2 << 20, seed: UInt64(number)), ItemKey(number: number), encoding: .forced(.lz4))
        }
        try engine.flush()
        #expect(try engine.statistics().items == 12)
    }

    /// Leaves a few hundred KiB.
    private func useUpTheQuota() throws {
        let root = volume.root.path
        try SystemCommand.run("/usr/bin/btrfs", "quota", "enable", root)
        try SystemCommand.run("/usr/bin/btrfs", "quota", "rescan", "-w", root)
        try volume.settle()
        var used: Int64 = 0
        for file in try container.files(below: container.root) {
            let path = FilePath(container.root.appending(path: file).path)
            used += try LiveFileSystem().attributes(of: path, in: .workingDirectory)?.allocated ?? 0
        }
        try SystemCommand.run("/usr/bin/btrfs", "qgroup", "limit", "\(used + 600 * 1024)", root)
        try volume.settle()
        // It is in force, and nothing but the error of a write shows it.
        #expect(throws: CocoaError.self) {
            try noise(4 << 20).write(to: volume.root.appending(path: "large"))
        }
        #expect(try volume.available > 100 << 20)
    }

    @Test func anItemOpensAtTheExpenseOfOthers() throws {
        try useUpTheQuota()
        let opened = try #require(try engine.open(ItemKey(number: 11)).value)
        #expect(try Data(contentsOf: opened.url) == noise(2 << 20, seed: 11))
        #expect(try (5...10).contains(engine.statistics().items))
    }

    @Test func whatTheUserAskedForIsDeliveredAtTheExpenseOfOthers() throws {
        try useUpTheQuota()
        let store = try engine.beginDelivery("wanted", expectedLength: 5 << 20)
        try store.append(mebibytes: 5)
        let item = try #require(try store.commit().delivered)
        #expect(try Data(contentsOf: item.url).count == 5 << 20)
        #expect(try engine.statistics().items < 11)
    }
}

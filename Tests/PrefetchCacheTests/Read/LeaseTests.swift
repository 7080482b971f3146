import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import Testing

@testable import PrefetchCaching
@testable import testprograms

/// What somebody reads, opens or has pinned is no victim, whoever evicts.
@Suite struct LeaseTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine
    private let other: Engine

    init() throws {
        engine = try container.engine()
        other = try container.engine()
        for number in 0..<4 { try engine.store(prose(100_000), ItemKey(number: number)) }
        try engine.flush()
    }

    private func expectSurvivor(_ number: Int, of evicting: Engine) throws {
        _ = try evicting.evict(.max)
        #expect(try evicting.items().map(\.key) == [ItemKey(number: number)])
        let statistics = try evicting.statistics()
        #expect(statistics.chargedBytes == (try container.chargedOnDisk()))
    }

    private func expectNothingLeft(_ evicting: Engine) throws {
        _ = try evicting.evict(.max)
        #expect(try evicting.items().isEmpty)
    }

    @Test(arguments: [false, true])
    func anItemThatIsBeingStreamedStays(forOthers: Bool) throws {
        let evicting = forOthers ? other : engine
        var pieces = Data()
        var survivors: [ItemKey] = []
        _ = try engine.stream(ItemKey(number: 1), nil) { piece throws(CacheError) in
            _ = try evicting.evict(.max)
            survivors = try evicting.items().map(\.key)
            pieces.append(contentsOf: piece)
        }
        #expect(survivors == [try ItemKey(number: 1)])
        #expect(pieces == prose(100_000))
        try expectNothingLeft(evicting)
    }

    @Test(arguments: [false, true])
    func anItemWhoseFileIsOpenStays(forOthers: Bool) throws {
        let evicting = forOthers ? other : engine
        let file = try #require(try engine.folders.openItem(ItemKey(number: 2).hash))
        try expectSurvivor(2, of: evicting)
        engine.environment.fileSystem.close(file)
        try expectNothingLeft(evicting)
    }

    @Test func anItemThatIsBeingHandedOverStays() throws {
        let fileSystem = InterceptingFileSystem()
        let opening = try container.engine(fileSystem: fileSystem)
        let staged = Mutex<[[String]]>([])
        fileSystem.intercept { [other] operation in
            guard operation.kind == .write, operation.name.count > 32 else { return }
            do {
                _ = try other.evict(.max)
                let keys = try other.items().map(\.key.string)
                staged.withLock { $0.append(keys) }
            } catch {
                Issue.record(error)
            }
        }
        let opened = try #require(try opening.open(ItemKey(number: 3)).value)
        #expect(staged.withLock { $0.first } == ["item-3"])
        #expect(try Data(contentsOf: opened.url) == prose(100_000))
    }

    @Test func aPinLastsUntilItIsReleased() async throws {
        let cache = try await container.cache()
        let pin = try #require(try await cache.pin(ItemKey(number: 0)))
        try expectSurvivor(0, of: other)
        pin.release()
        // The file is closed on a thread that may block, some time after.
        while try !other.items().isEmpty { _ = try other.evict(.max) }
        try await cache.close()
    }

    @Test(arguments: [false, true])
    func whatIsEvictedBeforeTheLeaseIsNotPinned(isStoredAgain: Bool) async throws {
        let fileSystem = InterceptingFileSystem()
        let environment = try container.engine(fileSystem: fileSystem).environment
        let cache = try await PrefetchCache(areas: container.areas(), environment: environment)
        let key = try ItemKey(number: 0)
        fileSystem.once(before: { $0.kind == .lock && $0.name.hasSuffix(key.hash.hexadecimal) }) {
            _ = try other.evict(.max)
            if isStoredAgain { try other.store(prose(100_000), key) }
        }
        let pin = try await cache.pin(key)
        #expect((pin != nil) == isStoredAgain)
        if isStoredAgain { try expectSurvivor(0, of: other) }
        pin?.release()
        try await cache.close()
    }

    @Test func manyPinsLeaveFilesForEverythingElse() async throws {
        let container = try TemporaryContainer()
        let process = try StressProcess(["pin-many", "--items", "400", "--open-files", "256"], in: container)
        let report: PinManyReport = try await process.outcome().report()
        #expect(report.pinned > 100)
        #expect(report.pinned + report.refused == 400)
        #expect(report.read == 400)
        #expect(report.canWork)
        #expect(report.pinsAgain)
    }

    @Test func aPinDiesWithItsProcess() throws {
        let holding = try StressProcess.following(in: container, at: engine.environment.now())
        #expect(try holding.tell("pin item-2") == "done")
        try expectSurvivor(2, of: engine)
        holding.kill()
        try expectNothingLeft(engine)
    }
}

import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What is kept of an item that the user asked for: on the volume of its destination, and not in the cache.
@Suite struct StagedPartialTests {
    private let container = TemporaryContainer.make()
    private let content = noise((3 << 20) + 70_000)

    /// What is allocated for the staged files, in bytes.
    private func allocated() throws -> Int64 {
        try container.staged().reduce(0) { sum, name in
            var status = stat()
            #expect(stat(container.staging.appending(path: name).path, &status) == 0)
            return sum + Int64(status.st_blocks) * 512
        }
    }

    private func begin(_ key: ItemKey, in engine: Engine, expectedLength: Int64? = nil) throws
        -> UnfinishedStore
    {
        try engine.beginDelivery(key, expectedLength: expectedLength, keepingPartial: true)
    }

    @discardableResult
    private func keep(_ count: Int, _ key: ItemKey, in engine: Engine, expectedLength: Int64? = nil) throws
        -> ResumablePartial?
    {
        let store = try begin(key, in: engine, expectedLength: expectedLength)
        try store.append(content.prefix(count))
        return try store.suspend()
    }

    private func resume(_ key: ItemKey, in engine: Engine) throws -> (store: UnfinishedStore, replayed: Data)
    {
        let partial = try #require(try engine.partial(of: key, for: .userRequested))
        let replay = Replay()
        guard case .begun(let store) = try engine.resume(partial, replay: { replay.add($0) }) else {
            Issue.record("gone or refused")
            throw CacheError.writerIsFinished
        }
        return (store, replay.content)
    }

    @Test(arguments: [nil, (3 << 20) + 70_000] as [Int64?])
    func wholeChunksAreKeptResumedAndDelivered(expectedLength: Int64?) throws {
        do {
            let engine = try container.engine()
            let partial = try keep(2_500_000, "film", in: engine, expectedLength: expectedLength)
            #expect(partial?.contentBytes == 2 << 20)
            #expect(try container.chargedOnDisk() == 0)
            #expect(try engine.statistics().partials == 0)
            try engine.close()
        }
        let engine = try container.engine()
        let listed = try #require(try engine.partials().first)
        #expect(listed.intent == .userRequested && listed.contentBytes == 2 << 20)
        #expect(listed.chargedBytes == 0 && listed.storedBytes == 2 << 20)
        #expect(try engine.partial(of: "film") == nil, "it is not for a prefetch")
        let (store, replayed) = try resume("film", in: engine)
        #expect(isSame(replayed, content.prefix(2 << 20)))
        #expect(try engine.partials().isEmpty, "it is being written")
        try store.append(content.dropFirst(2 << 20))
        let file = try #require(try store.commit().delivered)
        #expect(try isSame(Data(contentsOf: file.url), content))
        #expect(try container.staged() == [])
    }

    @Test func whatADeadProcessHadWrittenGoesOnAndItsAllocationIsReturned() throws {
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        let store = try begin("film", in: dying, expectedLength: 40 << 20)
        try store.append(content.prefix(2_500_000))
        fileSystem.die()
        #expect(try allocated() >= 40 << 20)
        let engine = try container.engine()
        #expect(try allocated() < 3 << 20)
        let resumed = try resume("film", in: engine)
        #expect(isSame(resumed.replayed, content.prefix(2 << 20)))
        #expect(try allocated() >= 40 << 20)
        _ = try resumed.store.suspend()
        #expect(try allocated() < 3 << 20)
    }

    @Test func withoutAWholeChunkOrTheWishNothingIsKept() throws {
        let engine = try container.engine()
        #expect(try keep(1 << 20 - 1, "film", in: engine) == nil)
        let store = try engine.beginDelivery("film", expectedLength: nil)
        try store.append(content)
        #expect(try store.suspend() == nil)
        #expect(try container.staged() == [])
    }

    @Test func aLivingWriterKeepsItsPartialForItself() throws {
        let engine = try container.engine()
        let store = try begin("film", in: engine)
        try store.append(content)
        let other = try container.engine()
        #expect(try other.partial(of: "film", for: .userRequested) == nil)
        try other.discardPartials("film")
        #expect(try container.staged().count == 2)
        let file = try #require(try store.commit().delivered)
        #expect(try isSame(Data(contentsOf: file.url), content))
    }

    @Test func aNewBeginningAndADiscardRemoveIt() throws {
        let engine = try container.engine()
        try keep(1 << 20, "film", in: engine)
        try engine.discardPartials("film")
        #expect(try container.staged() == [])
        try keep(1 << 20, "film", in: engine)
        try begin("film", in: engine).cancel()
        #expect(try container.staged() == [])
    }

    @Test func theLongerOfTwoIsOffered() throws {
        let engine = try container.engine()
        try engine.keep(content.prefix(2 << 20), "film")
        try keep(1 << 20, "film", in: engine)
        #expect(try engine.partial(of: "film", for: .userRequested)?.metadata.intent == .opportunistic)
        try keep(3 << 20, "film", in: engine)
        #expect(try engine.partial(of: "film", for: .userRequested)?.metadata.intent == .userRequested)
        #expect(try engine.partial(of: "film")?.metadata.intent == .opportunistic)
    }

    @Test(arguments: [0, 1]) func damagedChunksAreFetchedAgain(chunk: Int) throws {
        let engine = try container.engine()
        let partial = try #require(try keep(2 << 20, "film", in: engine))
        let name = try #require(try container.staged().first { !$0.hasSuffix(".chunks") })
        try container.staging.appending(path: name).overwrite(Data([0xFF, 0, 0xFF]), at: chunk << 20 + 5)
        let resumed = try engine.resume(partial, replay: { _ in })
        guard chunk > 0 else {
            #expect(resumed == nil)
            return #expect(try container.staged() == [])
        }
        let store = try #require(resumed?.begun)
        #expect(store.contentBytes == 1 << 20)
        try store.append(content.dropFirst(1 << 20))
        let delivered = try #require(try store.commit().delivered)
        #expect(try isSame(Data(contentsOf: delivered.url), content))
    }

    @Test func itIsKeptForAWeekAndNoLonger() throws {
        let now = Atomic<Int64>(1_700_000_000_000)
        func engine() throws -> Engine { try container.engine(now: { now.load(ordering: .relaxed) }) }
        try keep(1 << 20, "film", in: engine())
        now.add(PartialItem.lifetimeMilliseconds - 1, ordering: .relaxed)
        #expect(try engine().partial(of: "film", for: .userRequested) != nil)
        now.add(1, ordering: .relaxed)
        #expect(try engine().partial(of: "film", for: .userRequested) == nil)
        #expect(try container.staged() == [])
    }

    @Test func itGoesWhenItsItemWasOpenedInAnotherWay() throws {
        let engine = try container.engine()
        try keep(1 << 20, "film", in: engine)
        let partial = try #require(try engine.partial(of: "film", for: .userRequested))
        while engine.environment.now() <= partial.metadata.storedAt {}
        try engine.store(content, "film")
        #expect(try engine.open("film").value != nil)
        #expect(try engine.resume(partial, replay: { _ in })?.refusal?.reason == "alreadyPromoted")
        #expect(try container.staged() == [])
    }

    @Test func theNextProcessDoesNotKeepWhatWasOpenedInAnotherWay() throws {
        let engine = try container.engine()
        let partial = try #require(try keep(1 << 20, "film", in: engine))
        while engine.environment.now() <= partial.metadata.storedAt {}
        try engine.store(content, "film")
        #expect(try engine.open("film").value != nil)
        try engine.close()
        _ = try container.engine()
        #expect(try container.staged() == [])
    }

    @Test func aJournalAloneGoesAndThatOfANewerVersionStays() throws {
        try keep(1 << 20, "old", in: container.engine())
        try keep(1 << 20, "newer", in: container.engine())
        let names = try container.staged()
        func name(_ key: ItemKey, isJournal: Bool) throws -> URL {
            container.staging.appending(
                path: try #require(
                    names.first {
                        $0.hasPrefix(key.hash.hexadecimal) && $0.hasSuffix(".chunks") == isJournal
                    }))
        }
        try name("old", isJournal: false).remove()
        try name("newer", isJournal: true).overwrite(Data([9]), at: 24)
        let engine = try container.engine()
        #expect(try container.staged().count == 2)
        #expect(try container.staged().allSatisfy { $0.hasPrefix(ItemKey("newer").hash.hexadecimal) })
        #expect(try engine.partials().isEmpty)
        #expect(try engine.partial(of: "newer", for: .userRequested) == nil)
    }
}

import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import Testing

@testable import PrefetchCaching

/// Items whose storing is broken off, and that go on after their last whole chunk.
@Suite struct PartialTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws { engine = try container.engine() }

    private let content = noise(3_500_000)

    private static func content(_ encoding: ItemEncoding) -> Data {
        encoding == .lz4 ? prose(3_500_000) : noise(3_500_000)
    }

    @Test(arguments: [ItemEncoding.lz4, .identity], [nil, 3_500_000 as Int64])
    func anItemGoesOnAfterItsLastWholeChunkInAnotherProcess(encoding: ItemEncoding, length: Int64?) throws {
        let content = Self.content(encoding)
        let first = try container.engine()
        let validator = Validator(entityTag: "\"1\"", lastModified: "Tue, 15 Nov 1994 12:45:26 GMT")
        let store = try first.beginKept(
            "key", expectedLength: length, encoding: encoding, validator: validator)
        for start in stride(from: 0, to: 3_400_000, by: 100_000) {
            try store.append(content.subdata(in: start..<start + 100_000))
        }
        #expect(store.contentBytes == 3_400_000)
        let kept = try #require(try store.suspend())
        #expect(kept.contentBytes == 3 << 20)
        #expect(kept.expectedLength == length)
        #expect(kept.metadata.validator == validator)
        try first.close()

        let second = try container.engine()
        #expect(try second.partial(of: "key") == kept)
        let (resumed, replayed) = try second.resume("key")
        #expect(isSame(replayed, content.prefix(3 << 20)))
        #expect(resumed.contentBytes == 3 << 20)
        #expect(try second.partial(of: "key") == nil)
        try resumed.append(content.dropFirst(3 << 20))
        #expect(resumed.contentBytes == Int64(content.count))
        let summary = try #require(try resumed.commit().stored)
        #expect(summary.encoding == encoding)
        #expect(try isSame(second.content("key"), content))
        #expect(try container.partials() == [])
        try second.flush()
        try expectBooksAfterMaintenance(second, container)
    }

    @Test func oneThatWasResumedIsByteForByteTheOneThatWasNot() throws {
        let engine = try container.engine(now: { 1_700_000_000_000 })
        try engine.store(content, "key", encoding: .forced(.identity))
        let whole = try Data(contentsOf: container.item("key"))
        _ = try engine.remove("key")
        try engine.keep(content.prefix(2_200_000), "key")
        let (store, _) = try engine.resume("key")
        try store.append(content.dropFirst(2 << 20))
        _ = try store.commit()
        #expect(try Data(contentsOf: container.item("key")) == whole)
    }

    @Test func itMayBeBrokenOffAgainAndAgain() throws {
        var end = 0
        for round in 1...3 {
            let engine = try container.engine()
            let store = try round == 1 ? engine.beginKept("key") : engine.resume("key").store
            try store.append(content.subdata(in: end..<end + (1 << 20) + 5000))
            end = round << 20
            #expect(try store.suspend()?.contentBytes == Int64(end))
            try engine.close()
        }
        let engine = try container.engine()
        try engine.complete("key", content, after: 3 << 20)
    }

    @Test func aStoreThatIsDroppedOrClosedKeepsItsChunksToo() throws {
        var store: UnfinishedStore? = try engine.beginKept("dropped")
        try store?.append(content)
        store = nil
        #expect(try engine.partial(of: "dropped")?.contentBytes == 3 << 20)
        let open = try engine.beginKept("closed")
        try open.append(content)
        try engine.close()
        #expect(throws: CacheError.closed) { try open.commit() }
        let next = try container.engine()
        #expect(try next.partial(of: "closed")?.contentBytes == 3 << 20)
        try expectBooksLikeDisk(next, container)
        #expect(try next.statistics().partials == 2)
    }

    @Test func whatIsCancelledOrNotToBeKeptIsGone() throws {
        let cancelled = try engine.beginKept("cancelled")
        try cancelled.append(content)
        #expect(try container.partials().count == 2)
        try cancelled.cancel()
        let ordinary = try engine.begin("ordinary", expectedLength: 3 << 20)
        try ordinary.append(mebibytes: 2)
        #expect(try ordinary.suspend() == nil)
        #expect(throws: CacheError.writerIsFinished) { try ordinary.commit() }
        #expect(try container.partials() == [])
        for key in ["cancelled", "ordinary"] as [ItemKey] { #expect(try engine.partial(of: key) == nil) }
        try expectBooksAfterMaintenance(engine, container)
    }

    /// What is written to one name is in both.
    @Test(arguments: ["", ".chunks"]) func oneWithASecondNameIsGoneAndNotWrittenTo(ending: String) throws {
        let partial = try #require(try engine.keep(content.prefix(2_200_000), "key"))
        let name = ItemKey("key").hash.hexadecimal + ending
        let file = container.caches.appending(path: "incoming/\(name)")
        let second = container.root.appending(path: "second")
        try FileManager.default.linkItem(at: file, to: second)
        let before = try Data(contentsOf: second)
        if case .begun = try engine.resume(partial, replay: { _ in }) { Issue.record("resumed") }
        #expect(try Data(contentsOf: second) == before)
        #expect(try container.partials() == [])
        try engine.keep(content.prefix(2_200_000), "key")
        try engine.complete("key", content, after: 2 << 20)
    }

    @Test func aSmallItemKeepsNothing() throws {
        let log = try engine.beginKept("small")
        try log.append(content.prefix((1 << 20) - 1))
        #expect(try container.partials().allSatisfy { $0.contains("-") })
        #expect(try log.suspend() == nil)
        #expect(try container.partials() == [])
    }

    @Test func aNewBeginningDropsTheOldOne() throws {
        let old = try #require(try engine.keep(content, "key"))
        let store = try engine.beginKept("key")
        #expect(try engine.partial(of: "key") == nil)
        #expect(try container.partials().count == 1)
        let other = noise(2 << 20, seed: 9)
        try store.append(other)
        let new = try #require(try store.suspend())
        #expect(new != old)
        #expect(try engine.resume(old, replay: { _ in }) == nil)
        #expect(try isSame(engine.resume("key").replayed, other))
    }

    @Test func ofTwoWritersOfAKeyOneKeepsItsChunks() throws {
        let engines = [try container.engine(), try container.engine()]
        let first = try engines[0].beginKept("key")
        try first.append(content)
        let second = try engines[1].beginKept("key")
        try second.append(noise(2 << 20, seed: 2))
        for engine in engines { #expect(try engine.partial(of: "key") == nil) }
        #expect(try second.suspend() == nil)
        #expect(try first.suspend()?.contentBytes == 3 << 20)
        let (store, _) = try engines[1].resume("key")
        guard case .none = try engines[0].partial(of: "key") else { Issue.record("in use"); return }
        // The one that is resumed here cannot be resumed there.
        try store.cancel()
        for engine in engines { try engine.maintain() }
        try expectBooksLikeDisk(engines[0], container)
    }

    @Test func onlyOneOfTwoResumesIt() throws {
        let engines = [try container.engine(), try container.engine()]
        let partial = try #require(try engines[0].keep(content, "key"))
        let store = try #require(try engines[1].resume(partial, replay: { _ in })?.begun)
        #expect(try engines[0].resume(partial, replay: { _ in }) == nil)
        try store.append(content.dropFirst(3 << 20))
        _ = try store.commit()
        #expect(try isSame(engines[0].content("key"), content))
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aDamagedTailIsCutOff(encoding: ItemEncoding) throws {
        let content = Self.content(encoding)
        let engine = try container.engine()
        try engine.keep(content, "key", encoding: encoding)
        try container.chunks("key").flipByte(at: Data(contentsOf: container.chunks("key")).count * 2 / 5)
        #expect(try engine.partial(of: "key")?.contentBytes == 3 << 20)
        try engine.complete("key", content, after: 1 << 20)
        try expectBooksAfterMaintenance(engine, container)
    }

    @Test(arguments: ["chunks", "journal", "both", "chunks emptied", "journal emptied", "first chunk"])
    func whatTheSystemHasTakenIsAMissAndNoError(what: String) throws {
        let partial = try #require(try engine.keep(content, "key"))
        try engine.maintain()
        switch what {
        case "chunks": try container.chunks("key").remove()
        case "journal": try container.journal("key").remove()
        case "chunks emptied": try Data().write(to: container.chunks("key"))
        case "journal emptied": try Data().write(to: container.journal("key"))
        case "first chunk": try Data(repeating: 0, count: 3 << 20).write(to: container.chunks("key"))
        default: try container.incoming.remove()
        }
        #expect(try engine.resume(partial, replay: { _ in }) == nil)
        #expect(try engine.partial(of: "key") == nil)
        #expect(try container.partials() == [])
        try engine.keep(content, "key")
        try engine.complete("key", content, after: 3 << 20)
        try expectBooksAfterMaintenance(engine, container)
    }

    @Test func theSystemMayTakeItWhileItIsWritten() throws {
        let store = try engine.beginKept("key")
        try store.append(content.prefix(2 << 20))
        try container.incoming.remove()
        _ = try store.suspend()
        #expect(try engine.partial(of: "key") == nil)
        try engine.keep(content, "key")
        #expect(try isSame(engine.resume("key").replayed, content.prefix(3 << 20)))
    }

    @Test func whatIsNotOursIsLeftAlone() throws {
        let names = ["not-ours", "\(ItemKey(stringLiteral: "key").hash.hexadecimal).chunks.bak"]
        for name in names { try Data([1]).write(to: container.incoming.appending(path: name)) }
        // In the very places of ours.
        try FileManager.default.createDirectory(
            at: container.journal("folder"), withIntermediateDirectories: false)
        try container.journal("link").makeLink(to: container.incoming.appending(path: names[0]))
        for key in ["folder", "link"] as [ItemKey] {
            #expect(try engine.keep(content, key) == nil)
            let store = try engine.beginKept(key)
            try store.append(content)
            _ = try store.commit()
            #expect(try isSame(engine.content(key), content))
            try engine.discardPartials(key)
        }
        try container.catalog.remove()
        try engine.maintain()
        let left = try FileManager.default.contentsOfDirectory(atPath: container.incoming.path)
        #expect(left.count { !$0.hasSuffix(".lock") } == 4)
    }

    @Test func oneOfANewerVersionIsLeftAloneAndReported() async throws {
        try engine.keep(content, "key")
        try container.journal("key").overwrite(Data([2, 0]), at: 24)
        let before = try Data(contentsOf: container.journal("key"))

        var events = engine.events.stream().makeAsyncIterator()
        #expect(try engine.partial(of: "key") == nil)
        #expect(await events.next() == .newerFormat("key", version: 2))
        try engine.discardPartials("key")
        #expect(try engine.keep(content, "key") == nil)
        try engine.close()
        try container.catalog.remove()
        let next = try container.engine()
        try expectBooksLikeDisk(next, container)
        #expect(try next.evict(.max) == 0)
        #expect(try Data(contentsOf: container.journal("key")) == before)
        #expect(try container.partials().count == 2)
    }

    @Test func whatIsReplayedComesInSingleChunks() throws {
        try engine.keep(content, "key")
        let partial = try #require(try engine.partial(of: "key"))
        let largest = LargestPiece()
        let store = try #require(try engine.resume(partial, replay: { largest.note($0.count) })?.begun)
        #expect(largest.count == 1 << 20)
        try store.cancel()
    }
}

private final class LargestPiece: Sendable {
    private let largest = Atomic<Int>(0)
    var count: Int { largest.load(ordering: .relaxed) }
    func note(_ count: Int) { largest.max(count, ordering: .relaxed) }
}

/// The public interface to them.
@Suite struct PartialInterfaceTests {
    @Test func aDownloadGoesOn() async throws {
        let container = try TemporaryContainer()
        let content = noise(2_500_000)
        let cache = try await container.cache()
        let metadata = ItemMetadata("key")
        let writer = try #require(try await cache.beginStoring(metadata, keepingPartial: true).writer)
        #expect(try await writer.write(content) == nil)
        #expect(writer.contentBytes == 2_500_000)
        let partial = try #require(try await writer.suspend())
        #expect(try await cache.partial(of: "key") == partial)
        let replay = Replay()
        guard
            case .writer(let next) = try await cache.resumeStoring(partial, replay: { replay.add($0) })
        else { Issue.record("not resumed"); return }
        #expect(next.contentBytes == 2 << 20)
        #expect(isSame(replay.content, content.prefix(2 << 20)))
        #expect(try await next.write(content.dropFirst(2 << 20)) == nil)
        _ = try await next.commit()
        #expect(try await isSame(cache.read("key"), content))

        let third = try #require(try await cache.beginStoring(metadata, keepingPartial: true).writer)
        #expect(try await third.write(content) == nil)
        _ = try await third.suspend()
        try await cache.discardPartial(of: "key")
        #expect(try await cache.partial(of: "key") == nil)
        try await cache.close()
    }
}

import Foundation
import PrefetchFileSystem
import Synchronization
import Testing

@testable import PrefetchCaching

/// Whoever waits for a long promotion sees how far it has come, and may lose interest.
@Suite struct OpenWatcherTests {
    private let container = TemporaryContainer.make()

    /// Counts what is reported, and leaves after so many reports.
    private final class Watching: Sendable {
        private let state = Mutex<[OpenProgress]>([])
        let patience: Int

        init(patience: Int = .max) { self.patience = patience }

        var seen: [OpenProgress] { state.withLock { $0 } }

        var watcher: OpenWatcher {
            OpenWatcher(isCancelled: { self.seen.count >= self.patience }) { progress in
                self.state.withLock { $0.append(progress) }
            }
        }
    }

    private func expectNothingHappened(to key: ItemKey, in engine: Engine, _ content: Data) throws {
        #expect(try engine.content(key) == content)
        #expect(try container.files(below: container.documents).isEmpty)
        #expect(try container.staged() == [])
        #expect(try engine.ledger.entry(for: key) == nil)
    }

    private static let long = prose(9 << 20)

    @Test func decodingIsReportedToTheLastByte() throws {
        let engine = try container.engine()
        try engine.store(Self.long, "key")
        let watching = Watching()
        let opened = try #require(try engine.open("key", for: watching.watcher).value)
        let completed = watching.seen.map(\.completedBytes)
        #expect(completed.count > 2)
        #expect(zip(completed, completed.dropFirst()).allSatisfy(<))
        #expect(completed.last == opened.contentBytes)
        #expect(watching.seen.allSatisfy { $0.key == "key" && $0.totalBytes == opened.contentBytes })
        _ = try engine.open("key", for: watching.watcher)
        #expect(watching.seen.count == completed.count)
    }

    @Test(arguments: [0, 1, 2])
    func whoeverLeavesWhileItIsDecodedLeavesItCached(patience: Int) throws {
        let engine = try container.engine()
        try engine.store(Self.long, "key")
        let watching = Watching(patience: patience)
        #expect(throws: CacheError.cancelled) { try engine.open("key", for: watching.watcher) }
        #expect(watching.seen.count == patience)
        try expectNothingHappened(to: "key", in: engine, Self.long)
        #expect(try engine.open("key").value?.isFirstOpen == true)
    }

    @Test func whoeverLeavesAfterTheLastByteIsGivenTheFile() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "key")
        let watching = Watching(patience: 1)
        #expect(try engine.open("key", for: watching.watcher).value?.isFirstOpen == true)
        #expect(try engine.open("key", for: watching.watcher).value?.isFirstOpen == false)
    }

    @Test func verifyingALargeIdentityItemIsReportedAndCanBeLeft() throws {
        let content = noise(9 << 20)
        let earlier = try container.engine(boot: "boot-1")
        try earlier.store(content, "key")
        try earlier.close()
        let engine = try container.engine(boot: "boot-2")
        #expect(throws: CacheError.cancelled) {
            try engine.open("key", for: Watching(patience: 1).watcher)
        }
        try expectNothingHappened(to: "key", in: engine, content)
        let watching = Watching()
        #expect(try engine.open("key", for: watching.watcher).value != nil)
        #expect(watching.seen.last?.completedBytes == 9 << 20)
    }

    @Test func anItemThatOnlyChangesItsNameHasNothingToReport() throws {
        let engine = try container.engine()
        try engine.store(noise(9 << 20), "key")
        let watching = Watching()
        #expect(try engine.open("key", for: watching.watcher).value != nil)
        #expect(watching.seen.isEmpty)
    }

    @Test func ofSeveralItemsNoneIsLeftHalfWay() throws {
        let engine = try container.engine()
        let keys: [ItemKey] = ["a", "b", "c"]
        for key in keys { try engine.store(prose(5000), key) }
        let watching = Watching(patience: 2)
        let results = engine.open(keys, for: watching.watcher)
        #expect(watching.seen.map(\.key) == ["a", "b"])
        #expect(try results[0].get().value?.isFirstOpen == true)
        #expect(try results[1].get().value?.isFirstOpen == true)
        #expect(throws: CacheError.cancelled) { _ = try results[2].get() }
        #expect(try engine.content("c") == prose(5000))
        #expect(try container.files(below: container.documents) == ["a", "b"])
        #expect(try engine.open("c").value?.isFirstOpen == true)
    }

    @Test func cancellingTheTaskIsLeaving() async throws {
        let cache = try await container.cache()
        try await cache.store(Self.long, as: ItemMetadata(key: "key", destination: .documents("key")))
        let opening = Task {
            try await cache.open("key") { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CacheError.cancelled) { try await opening.value }
        #expect(try await cache.read("key") == Self.long)
        #expect(try await cache.open("key")?.isFirstOpen == true)
        try await cache.close()
    }
}

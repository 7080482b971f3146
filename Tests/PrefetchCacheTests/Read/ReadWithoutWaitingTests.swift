import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Reads on the caller's own thread, of what is in memory. What was just written is, unless the machine is short of it.
@Suite struct ReadWithoutWaitingTests {
    private static let key: ItemKey = "key"

    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws { engine = try container.engine() }

    private func read(_ range: Range<Int64>? = nil, isUse: Bool = true) -> Data? {
        engine.readWithoutWaiting(Self.key, range, isUse: isUse)
    }

    private var file: URL { container.caches.appending(path: "items/\(CacheLayout.file(of: Self.key.hash))") }

    #if os(Linux)
        /// `false` in memory itself, and on what containers of programs have for a disk.
        private static let isPossible: Bool = {
            let folder = FilePath(FileManager.default.temporaryDirectory.path)
            let fileSystem = LiveFileSystem()
            do {
                let directory = try fileSystem.open(folder, in: .workingDirectory, .directoryFollowingLinks)
                defer { fileSystem.close(directory) }
                return fileSystem.tellsWhatIsInMemory(directory)
            } catch {
                return false
            }
        }()

        @Test(
            .enabled(if: isPossible, "the file system of the temporary folder does not tell"),
            arguments: [true, false])
        func whatIsInMemoryIsRead(isCompressible: Bool) throws {
            let content = isCompressible ? Data(repeating: 7, count: 100_000) : noise(100_000)
            try engine.store(content, Self.key)
            #expect(read() == content)
            #expect(read(10..<20) == content[10..<20])
            #expect(read(isUse: false) == content)
            #expect(try engine.statistics().hits == 2)
        }

        /// On a single thread, another task has a turn only if the reader lets it.
        @Test(.enabled(if: isPossible, "the file system of the temporary folder does not tell"))
        func whoReadsWithoutAPauseLetsOthersGoFirst() async throws {
            let cache = try await container.cache()
            try await cache.store(noise(1000), as: ItemMetadata(key: Self.key))
            let (executor, turns, most) = (BlockingExecutor(width: 1), CallCounter(), 50_000)
            let reader = Task(executorPreference: executor) {
                var reads = 0
                while turns.value == 0, reads < most {
                    _ = try await cache.read(Self.key)
                    reads += 1
                }
                return reads
            }
            await Task(executorPreference: executor) { _ = turns.next() }.value
            let reads = try await reader.value
            #expect(reads < most)
            try await cache.close()
        }

        @Test(.enabled(if: isPossible, "the file system of the temporary folder does not tell"))
        func anEmptyItemIsRead() throws {
            try engine.store(Data(), Self.key)
            #expect(read() == Data())
        }
    #endif

    @Test func whatHasToBeSaidAboutAnItemIsLeftToAnOrdinaryRead() throws {
        #expect(read() == nil, "there is none")
        try engine.store(noise(1000), Self.key)
        #expect(read(500..<2000) == nil, "the range exceeds it")

        try file.flipByte(at: 100)
        #expect(read() == nil)
        #expect(file.exists, "it was set aside")

        try file.remove()
        let elsewhere = container.caches.appending(path: "elsewhere")
        try engine.store(noise(1000), Self.key)
        try file.move(to: elsewhere)
        try file.makeLink(to: elsewhere)
        #expect(read() == nil, "a link was followed")
        #expect(try engine.statistics().misses == 0)
    }

    @Test func anotherItemUnderItsNameIsNotRead() throws {
        try engine.store(noise(1000), "another")
        try engine.store(noise(1000), Self.key)
        let other = container.caches.appending(path: "items/\(CacheLayout.file(of: ItemKey("another").hash))")
        try Data(contentsOf: other).write(to: file)
        #expect(read() == nil)
    }

    @Test func anExpiredItemIsNotRead() throws {
        var metadata = ItemMetadata(key: Self.key)
        metadata.expiresAt = engine.environment.now() + 60_000
        try engine.store(noise(1000), as: metadata)
        for _ in 0..<60 { _ = engine.environment.now() }
        #expect(read() == nil)
    }

    /// To decompress it would keep the caller's thread busy for long, or it is not read by one call.
    @Test func longContentIsLeftToThreadsOfTheCache() throws {
        try engine.store(Data(repeating: 7, count: 200_000), Self.key)
        #expect(read() == nil)
        try engine.store(noise(200_000), Self.key)
        #expect(read() == nil)
    }

    @Test func aFileSystemThatCannotTellIsNotAsked() throws {
        let engine = try container.engine(fileSystem: InterceptingFileSystem())
        try engine.store(noise(1000), Self.key)
        #expect(engine.readWithoutWaiting(Self.key, nil, isUse: true) == nil)
        let isAsked = engine.canReadWithoutWaiting.load(ordering: .relaxed)
        #expect(!isAsked)
        #expect(try engine.content(Self.key) == noise(1000))
    }

    @Test func aClosedCacheIsNotRead() async throws {
        let cache = try await container.cache()
        try await cache.store(noise(1000), as: ItemMetadata(key: Self.key))
        #expect(try await cache.read(Self.key) == noise(1000))
        try await cache.close()
        await #expect(throws: CacheError.closed) { try await cache.read(Self.key) }
    }
}

import Foundation
import Synchronization
import Testing

@testable import PrefetchCaching

/// Readers of items that are being stored. Whoever stores goes on while a reader sleeps.
@Suite struct ContentReaderTests {
    private static let chunk = 1 << 20
    private let container = TemporaryContainer.make()
    private let content = noise((3 << 20) + 70_000)

    private func reader(
        of cache: PrefetchCache, patience: Duration = .seconds(30),
        whileAsleep step: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) -> ContentReader {
        let count = CallCounter()
        return ContentReader("film", of: cache, patience: patience) { _ in
            do {
                try await step(count.next())
            } catch {
                Issue.record(error)
                throw error
            }
        }
    }

    private func metadata(_ intent: Intent, tag: String = "\"1\"") -> ItemMetadata {
        let metadata = ItemMetadata("film", intent: intent, validator: Validator(entityTag: tag))
        return metadata
    }

    private func begin(_ metadata: ItemMetadata, expectedLength: Int64?, in cache: PrefetchCache) async throws
        -> CacheWriter
    {
        let begun = try await cache.beginStoring(
            metadata, expectedLength: expectedLength, keepingPartial: true)
        guard case .writer(let writer) = begun else { throw CacheError.writerIsFinished }
        return writer
    }

    /// Writes a chunk at each sleep, and completes the item after the last one.
    private func write(_ number: Int, to writer: CacheWriter) async throws {
        let start = number * Self.chunk
        guard start <= content.count else { return }
        _ = try await writer.write(content[start..<min(start + Self.chunk, content.count)])
        if start + Self.chunk > content.count { _ = try await writer.commit() }
    }

    @Test(arguments: [Intent.opportunistic, .userRequested], [true, false])
    func whatAnotherProcessStoresIsReadAsItArrives(intent: Intent, isLengthKnown: Bool) async throws {
        let (cache, storing) = (try await container.cache(), try await container.cache())
        let writer = try await begin(
            metadata(intent), expectedLength: isLengthKnown ? Int64(content.count) : nil, in: storing)
        let reader = reader(of: cache) { try await write($0, to: writer) }
        var read = Data()
        for try await piece in reader.pieces() {
            read += piece
            #expect(read.count <= writer.contentBytes)
        }
        #expect(isSame(read, content))
        // At the end the rest of the last chunk and the item appear together.
        #expect(try await reader.length() == Int64(content.count))
        #expect(try await isSame(reader.read(0..<Int64(content.count)), content))
    }

    @Test func aRangeThatHasArrivedDoesNotWaitAndAnotherWaits() async throws {
        let cache = try await container.cache()
        let writer = try await begin(
            metadata(.opportunistic), expectedLength: Int64(content.count), in: cache)
        try await write(0, to: writer)
        try await write(1, to: writer)
        let sleeps = CallCounter()
        let reader = reader(of: cache) { number in
            _ = sleeps.next()
            try await write(number + 2, to: writer)
        }
        #expect(try await reader.length() == Int64(content.count))
        let across = Int64(Self.chunk - 5)..<Int64(Self.chunk + 5)
        #expect(try await reader.read(across) == content[Self.chunk - 5..<Self.chunk + 5])
        #expect(sleeps.next() == 0)
        let last = Int64(content.count - 10)..<Int64(content.count)
        #expect(try await reader.read(last) == content.suffix(10))
        #expect(sleeps.next() == 3)
        #expect(try await reader.read(from: Int64(content.count)).isEmpty)
        #expect(try await reader.read(from: 10, upTo: .max) == content.dropFirst(10))
        for offset in [-1, Int64(content.count + 1), .max, .min] {
            await #expect(throws: CacheError.self) { try await reader.read(from: offset, upTo: .max) }
        }
        await #expect(throws: CacheError.self) {
            try await reader.read(last.lowerBound..<last.upperBound + 1)
        }
    }

    @Test func anOffsetBeforeTheContentIsAnErrorAtOnce() async throws {
        let cache = try await container.cache()
        let writer = try await begin(metadata(.opportunistic), expectedLength: nil, in: cache)
        try await write(0, to: writer)
        let reader = reader(of: cache) { _ in Issue.record("it waits") }
        for offset in [-1, .min] as [Int64] {
            await #expect(throws: CacheError.self) { try await reader.read(from: offset) }
        }
    }

    @Test func anInterruptionIsWaitedFor() async throws {
        let (cache, storing) = (try await container.cache(), try await container.cache())
        let writer = try await begin(metadata(.userRequested), expectedLength: nil, in: storing)
        try await write(0, to: writer)
        try await writer.keep()
        let reader = reader(of: cache) { number in
            // As long as nobody is storing it, patience runs out.
            guard number == 20 else { return }
            let partial = try #require(try await storing.partial(of: "film", for: .userRequested))
            let resumed = try #require(try await storing.resumeStoring(partial).writer)
            _ = try await resumed.write(content[Self.chunk...])
            _ = try await resumed.commit()
        }
        #expect(try await isSame(reader.read(0..<Int64(content.count)), content))
    }

    @Test func whatNobodyStoresEndsThePatience() async throws {
        let cache = try await container.cache()
        let slept = Mutex(Duration.zero)
        func reader(_ patience: Duration) -> ContentReader {
            ContentReader("film", of: cache, patience: patience) { pause in slept.withLock { $0 += pause } }
        }
        await #expect(throws: CacheError.notArriving("film")) { try await reader(.zero).read(from: 0) }
        #expect(slept.withLock { $0 } < .seconds(1))
        slept.withLock { $0 = .zero }
        await #expect(throws: CacheError.notArriving("film")) { try await reader(.seconds(5)).read(from: 0) }
        #expect((.seconds(5)...Duration.seconds(6)).contains(slept.withLock { $0 }))
        // Not while somebody does, even if there is no whole chunk yet.
        let writer = try await begin(metadata(.userRequested), expectedLength: nil, in: cache)
        let waits = Atomic(0)
        let patient = self.reader(of: cache, patience: .zero) { number in
            waits.store(number, ordering: .relaxed)
            if number == 30 { try await writer.cancel() }
        }
        await #expect(throws: CacheError.notArriving("film")) { try await patient.read(from: 0) }
        #expect(waits.load(ordering: .relaxed) >= 30)
        let claim = try #require(try await cache.claim("film").claim)
        // As another process sees it.
        let other = try await container.cache()
        let claimed = self.reader(of: other, patience: .zero) { number in
            waits.store(number + 100, ordering: .relaxed)
            if number == 30 { claim.release() }
        }
        await #expect(throws: CacheError.notArriving("film")) { try await claimed.read(from: 0) }
        #expect(waits.load(ordering: .relaxed) >= 130)
    }

    @Test func twoVersionsAreNeverMixed() async throws {
        let cache = try await container.cache()
        let writer = try await begin(metadata(.opportunistic), expectedLength: nil, in: cache)
        try await write(0, to: writer)
        let reader = reader(of: cache)
        #expect(try await reader.read(from: 0, upTo: 10) == content.prefix(10))
        try await writer.cancel()
        _ = try await cache.store(noise(content.count, seed: 5), as: metadata(.opportunistic, tag: "\"2\""))
        await #expect(throws: CacheError.otherVersion("film")) {
            try await reader.read(from: Int64(Self.chunk))
        }
    }

    @Test func itFollowsTheItemToItsFile() async throws {
        let cache = try await container.cache()
        _ = try await cache.store(content, as: metadata(.opportunistic))
        let reader = reader(of: cache)
        #expect(try await reader.read(from: 0, upTo: 10) == content.prefix(10))
        #expect(try await cache.statistics().figures[.read] == 1)
        _ = try await cache.open("film")
        #expect(try await isSame(reader.read(10..<Int64(content.count)), content.dropFirst(10)))
        #expect(try await cache.statistics().figures[.read] == 1, "it counts once")
    }

    @Test func damagedChunksAreNotHandedOut() async throws {
        let cache = try await container.cache()
        let writer = try await begin(metadata(.opportunistic), expectedLength: nil, in: cache)
        for number in 0..<2 { try await write(number, to: writer) }
        let file = try FileHandle(forUpdating: container.chunks("film"))
        try file.seek(toOffset: UInt64(Self.chunk + 5))
        try file.write(contentsOf: Data([0xFF, 0, 0xFF]))
        try await writer.keep()
        let reader = reader(of: cache, patience: .zero)
        #expect(try await reader.read(from: 0, upTo: Self.chunk) == content.prefix(Self.chunk))
        await #expect(throws: CacheError.notArriving("film")) {
            try await reader.read(from: Int64(Self.chunk))
        }
    }

    @Test func aCancelledReaderEnds() async throws {
        let cache = try await container.cache()
        let reader = cache.reader(for: "film")
        let task = Task { try await reader.read(from: 0) }
        task.cancel()
        await #expect(throws: CacheError.cancelled) { try await task.value }
    }
}

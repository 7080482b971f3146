import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Items that several tasks open at the same time.
@Suite(.timeLimit(.minutes(2))) struct SharedOpensTests {
    private let container = TemporaryContainer.make()
    private let fileSystem = InterceptingFileSystem()
    /// Of this test, so that it does not wait for others between the calls.
    private let executor = BlockingExecutor(width: 4)

    private func cache() async throws -> PrefetchCache {
        let environment = try container.engine(fileSystem: fileSystem).environment
        return try await PrefetchCache(areas: container.areas(), environment: environment)
    }

    private func store(_ count: Int, in cache: PrefetchCache) async throws -> [ItemKey] {
        var keys: [ItemKey] = []
        for number in 0..<count {
            let key = try ItemKey("item \(number)")
            try await cache.store(
                prose(3000, seed: UInt64(number)),
                as: ItemMetadata(key: key, destination: .documents(try FileName(key.string))))
            keys.append(key)
        }
        return keys
    }

    /// Holds up the first that locks a key, that is, the task that leads.
    private final class Hold: Sendable {
        private let isTaken = Atomic<Bool>(false)
        private let end = DispatchSemaphore(value: 0)
        private let looks = Atomic<Int>(0)

        init(_ key: ItemKey, in fileSystem: InterceptingFileSystem) {
            fileSystem.intercept { [self] operation in
                if operation.kind == .attributes, isTaken.load(ordering: .relaxed) {
                    looks.wrappingAdd(1, ordering: .relaxed)
                }
                guard operation.isLock(of: key),
                    !isTaken.exchange(true, ordering: .relaxed)
                else { return }
                end.wait()
            }
        }

        func begin() async { while !isTaken.load(ordering: .relaxed) { await Task.yield() } }

        /// Waits until files were looked at so many times since the task was held up.
        func waitForLooks(_ count: Int) async {
            while looks.load(ordering: .relaxed) < count { await Task.yield() }
        }

        func release() { end.signal() }
    }

    @Test func thoseThatComeMeanwhileShareTheirFlushes() async throws {
        try await withTaskExecutorPreference(executor) {
            let cache = try await cache()
            let keys = try await store(40, in: cache)
            let flushes = Atomic<Int>(0)
            let documents = container.documents.path
            let hold = Hold(keys[0], in: fileSystem)
            try await withThrowingTaskGroup(of: Data?.self) { group in
                group.addTask { try await cache.open(keys[0]).map { try Data(contentsOf: $0.url) } }
                await hold.begin()
                for key in keys.dropFirst() {
                    group.addTask { try await cache.open(key).map { try Data(contentsOf: $0.url) } }
                }
                await hold.waitForLooks(39)
                fileSystem.intercept { operation in
                    if operation.kind == .synchronize, operation.name == documents {
                        flushes.wrappingAdd(1, ordering: .relaxed)
                    }
                }
                hold.release()
                var contents: Set<Data> = []
                for try await content in group { contents.insert(try #require(content)) }
                #expect(contents == Set((0..<40).map { prose(3000, seed: $0) }))
            }
            // One of the first, and two or more of the others, of which up to 32 are opened at a time.
            #expect((1..<10).contains(flushes.load(ordering: .relaxed)))
            try await cache.close()
        }
    }

    @Test func eachIsOpenedOnceHoweverManyAskForIt() async throws {
        try await withTaskExecutorPreference(executor) {
            let cache = try await cache()
            let keys = try await store(24, in: cache)
            try await withThrowingTaskGroup(of: [ItemKey].self) { group in
                for number in 0..<8 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(number))
                        var firstOpens: [ItemKey] = []
                        for key in keys.shuffled(using: &random) {
                            let opened = try #require(try await cache.open(key))
                            if opened.isFirstOpen { firstOpens.append(key) }
                        }
                        return firstOpens
                    }
                }
                let firstOpens = try await group.reduce(into: []) { $0 += $1 }
                #expect(firstOpens.count == keys.count)
                #expect(Set(firstOpens) == Set(keys))
            }
            #expect(try container.files(below: container.documents).count == keys.count)
            try await cache.close()
        }
    }

    @Test func whoWaitsForALockHoldsNobodyUp() async throws {
        try await withTaskExecutorPreference(executor) {
            let cache = try await cache()
            let keys = try await store(2, in: cache)
            let live = LiveFileSystem()
            let name = FilePath(container.support.path).appending("staging").pushing(CacheLayout.keyLocks)
            let lock = try live.open(
                name, in: .workingDirectory, .createIfMissing(CacheLayout.filePermissions))
            #expect(try live.lockByte(KeyLock.position(of: keys[0].hash), of: lock))
            let tries = Atomic<Int>(0)
            fileSystem.intercept { operation in
                if operation.isLock(of: keys[0]) { tries.wrappingAdd(1, ordering: .relaxed) }
            }
            async let first = cache.open(keys[0])
            // Once without waiting, then alone.
            while tries.load(ordering: .relaxed) < 2 { await Task.yield() }
            #expect(try await cache.open(keys[1]) != nil)
            live.unlock(lock)
            #expect(try await first != nil)
            try await cache.close()
        }
    }

    @Test func whoIsCancelledWaitsNoLonger() async throws {
        try await withTaskExecutorPreference(executor) {
            let cache = try await cache()
            let keys = try await store(2, in: cache)
            let hold = Hold(keys[0], in: fileSystem)
            async let first = cache.open(keys[0])
            await hold.begin()
            let waiting = Task(executorPreference: executor) { try await cache.open(keys[1]) }
            await hold.waitForLooks(1)
            waiting.cancel()
            await #expect(throws: CacheError.cancelled) { try await waiting.value }
            hold.release()
            #expect(try await first != nil)
            #expect(try await cache.contains(keys[1]))
            try await cache.close()
        }
    }

    /// Tasks that open one item each. The first is held up while it opens, and the others wait for it.
    private func opensHeldUp(in cache: PrefetchCache) async throws
        -> (tasks: [Task<PromotedFile?, any Error>], hold: Hold)
    {
        let keys = try await store(3, in: cache)
        let hold = Hold(keys[0], in: fileSystem)
        var tasks = [Task(executorPreference: executor) { try await cache.open(keys[0]) }]
        await hold.begin()
        for key in keys.dropFirst() {
            tasks.append(Task(executorPreference: executor) { try await cache.open(key) })
        }
        await hold.waitForLooks(2)
        return (tasks, hold)
    }

    @Test func whoWaitsWhenTheCacheIsClosedIsTold() async throws {
        try await withTaskExecutorPreference(executor) {
            let cache = try await cache()
            let (tasks, hold) = try await opensHeldUp(in: cache)
            async let closed: Void = cache.close()
            await #expect(throws: CacheError.closed) {
                while true { _ = try await cache.statistics() }
            }
            hold.release()
            #expect(try await tasks[0].value != nil)
            try await closed
            for task in tasks.dropFirst() {
                await #expect(throws: CacheError.closed) { try await task.value }
            }
        }
    }

    /// A suspension interrupts what is being opened. That, and what waits for it, is opened after the cache is resumed.
    @Test func whoWaitsWhenTheCacheIsSuspendedIsServedAfterwards() async throws {
        try await withTaskExecutorPreference(executor) {
            let cache = try await cache()
            let usage = try await cache.engine.running().engine.usage
            let (tasks, hold) = try await opensHeldUp(in: cache)
            async let suspended: Void = cache.suspend()
            while !usage.isSuspended { await Task.yield() }
            hold.release()
            try await suspended
            #expect(try container.files(below: container.documents) == [])
            try await cache.resume()
            for task in tasks { #expect(try await task.value != nil) }
            try await cache.close()
        }
    }

    @Test func whatTakesLongIsLeftToOpeningItAlone() throws {
        let engine = try container.engine()
        let length = Int(Promotion.longestShared)
        try engine.store(prose(length + 1), "long")
        try engine.store(prose(length), "short")
        let outcomes = engine.openQuickly(["long", "absent", "short", "short"], for: .never)
        #expect(outcomes[0] == nil)
        #expect(outcomes[1] == nil)
        guard case .success(.hit(let opened)) = outcomes[2] else {
            Issue.record("the short one is not opened")
            return
        }
        #expect(opened.isFirstOpen)
        // Once.
        #expect(outcomes[3] == nil)
        // Renamed without being read, but flushed.
        try engine.store(noise(5 << 20), "film")
        #expect(engine.openQuickly(["film"], for: .never)[0] == nil)
        #expect(try engine.open("long").value != nil)
    }
    /// Else the crash workloads of that name would show nothing.
    @Test func whatIsOpenedQuicklyWhenNothingGoesWrong() throws {
        let world = SimulatedWorld()
        let items = [SimulatedItem("text", .lz4, seed: 1), SimulatedItem("film", .identity, seed: 2)]
        for item in items { try world.cache(item) }
        let engine = try world.engine(longestCopy: .max)
        for outcome in engine.openQuickly(items.map(\.key), for: .never) {
            #expect(try outcome?.get().value?.isFirstOpen == true)
        }
    }
}

extension FileSystemTestSupport.Operation {
    /// Whether the lock of a key is being taken.
    fileprivate func isLock(of key: ItemKey) -> Bool {
        kind == .lock && name == CacheLayout.keyLocks.string && offset == KeyLock.position(of: key.hash)
    }
}

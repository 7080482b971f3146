import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Who waits for the catalog, or for a processor, keeps nobody else from working.
@Suite(.timeLimit(.minutes(2))) struct WaitingTests {
    private let container = TemporaryContainer.make()

    @Test func callsThatWaitForTheCatalogDoNotTakeTheThreadsOfReads() async throws {
        // Of its own, so that it does not wait for other tests between the calls.
        try await withTaskExecutorPreference(BlockingExecutor(width: 2)) {
            try await Self.readBesideWaiting()
        }
    }

    private static func readBesideWaiting() async throws {
        let container = try TemporaryContainer()
        let fileSystem = InterceptingFileSystem()
        let environment = try container.engine(fileSystem: fileSystem).environment
        let cache = try await PrefetchCache(areas: container.areas(), environment: environment)
        try await cache.store(noise(1000), as: ItemMetadata("key"))
        try await cache.flush()

        let holder = try DatabaseHolder(container.catalog)
        let looks = Atomic<Int>(0)
        let ended = CallCounter()
        fileSystem.intercept { operation in
            if operation.name == CacheLayout.catalog { looks.wrappingAdd(1, ordering: .relaxed) }
        }
        try holder.hold(excludesReaders: true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<300 {
                group.addTask {
                    do {
                        _ = try await cache.statistics()
                    } catch CacheError.busy {
                        // On a slow machine.
                    }
                    _ = ended.next()
                }
            }
            while looks.load(ordering: .relaxed) < 2 { await Task.yield() }
            let content = try await cache.read("key")
            #expect(content == noise(1000))
            #expect(ended.next() < 100, "the read has not waited for its turn")
            try holder.letGo()
            try await group.waitForAll()
        }
        try await cache.close()
    }

    @Test func anItemThatIsBeingEvictedIsRead() throws {
        let engine = try container.engine()
        try engine.store(noise(1000), "key")
        try engine.store(prose(5000), "text")
        for key in ["key", "text"] as [ItemKey] {
            let file = FilePath(container.item(key).path)
            let live = LiveFileSystem()
            let claimed = try live.open(file, in: .workingDirectory, .read)
            #expect(try live.lock(claimed, waiting: false))
            #expect(try engine.content(key) == (key == "key" ? noise(1000) : prose(5000)))
            #expect(try engine.contains(key))
            #expect(try engine.open(key).value != nil)
            live.unlock(claimed)
        }
    }

    @Test func whoHoldsTheCatalogIsNamed() throws {
        let now = Atomic<Int>(0)
        let engine = try container.engine()
        // It has waited for 5 seconds at the sixth look.
        let waiting = try container.engine(
            uptime: { .seconds(now.wrappingAdd(1, ordering: .relaxed).newValue) })
        try engine.store(noise(1000), "key")
        try engine.flush()
        _ = try waiting.statistics()

        let holder = try DatabaseHolder(container.catalog)
        try holder.hold()
        #expect(try waiting.statistics().items == 1, "who only writes later can be read beside")
        #expect {
            try waiting.evict(.max)
        } throws: { error in
            guard case CacheError.busy("catalog", let holder) = error else { return false }
            return holder?.processID == getpid() && holder?.isStopped == false
                && "\(error)".contains("process \(getpid()) (")
        }
        let waited = now.load(ordering: .relaxed)
        #expect(waited > 5)
        try holder.letGo()
        #expect(try waiting.evict(.max) > 0)
    }

    /// As a process does that was stopped.
    @Test func readsDoNotWaitForWhoHoldsTheDatabases() throws {
        let container = try Self.container()
        let looks = Atomic<Int>(0)
        var environment = try container.engine(isRecovering: false).environment
        environment.uptime = { .seconds(looks.wrappingAdd(1, ordering: .relaxed).newValue) }
        let lock = try Self.ledgerLock(in: container)
        defer { LiveFileSystem().unlock(lock) }
        let holder = try DatabaseHolder(container.catalog)
        try holder.hold(excludesReaders: true)

        let engine = try Engine(areas: container.areas(), environment: environment)
        try Self.expectReadable(engine)
        let waited = looks.load(ordering: .relaxed)
        #expect(waited == 0)
        try holder.letGo()
    }

    @Test func readsDoNotWaitForACallThatWaitsForTheLedger() throws {
        let container = try Self.container()
        let isWaiting = Atomic<Bool>(false)
        let hasEnded = Atomic<Bool>(false)
        var environment = try container.engine().environment
        environment.uptime = {
            isWaiting.store(true, ordering: .relaxed)
            return .zero
        }
        let engine = try Engine(areas: container.areas(), environment: environment)
        let lock = try Self.ledgerLock(in: container)
        let end = DispatchSemaphore(value: 0)
        // Dispatch starts no further thread while the tests keep theirs busy, as this one does while it waits.
        Thread.detachNewThread {
            do {
                _ = try engine.forget("other")
            } catch {
                Issue.record(error)
            }
            hasEnded.store(true, ordering: .relaxed)
            end.signal()
        }
        while !isWaiting.load(ordering: .relaxed) { sched_yield() }
        try Self.expectReadable(engine)
        let isOver = hasEnded.load(ordering: .relaxed)
        #expect(!isOver)
        LiveFileSystem().unlock(lock)
        end.wait()
    }

    /// As a process does that was stopped just when it marks what it reads of the log. SQLite tries for 10 seconds.
    @Test(.enabled(if: TestRun.isLong, "takes 10 seconds"))
    func aReadThatSQLiteHoldsUpReadsTheBytes() throws {
        let container = try Self.container()
        let engine = try container.engine(uptime: { .zero })
        try engine.store(prose(1000), "third")
        _ = try engine.open("third")
        let marks = try LiveFileSystem().open(
            FilePath(container.support.appending(path: "record.sqlite-shm").path), in: .workingDirectory,
            .readWrite)
        // Not before: it takes all locks of this process on the file, those of SQLite among them.
        defer { LiveFileSystem().close(marks) }
        var lock = flock()
        (lock.l_type, lock.l_start, lock.l_len) = (Int16(F_WRLCK), 123, 5)
        // `F_OFD_SETLK`, which Glibc's Swift overlay lacks.
        let isLocked = fcntl(marks.rawValue, 37, &lock) == 0
        #expect(isLocked)

        try Self.expectReadable(engine)
        let start = ContinuousClock.now
        try Self.expectReadable(engine)
        #expect(start.duration(to: .now) < .seconds(9))
    }

    /// With items that were opened.
    private static func container() throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        let engine = try container.engine()
        for key in ["opened", "other"] as [ItemKey] {
            try engine.store(prose(1000), key)
            _ = try engine.open(key)
        }
        try engine.close()
        return container
    }

    private static func ledgerLock(in container: TemporaryContainer) throws -> Descriptor {
        try Directory.openOrCreate(
            FilePath(container.support.path), permissions: .ownerReadWriteExecute, in: LiveFileSystem()
        ).takeLock(nil, for: "ledger")
    }

    private static func expectReadable(_ engine: Engine) throws {
        #expect(try engine.content("opened") == prose(1000))
        #expect(try engine.contains("opened"))
        #expect(try engine.status(of: "opened").isPromoted)
        #expect(try engine.read("absent", nil).value == nil)
        #expect(try !engine.contains("absent"))
        #expect(try engine.status(of: "absent").value == nil)
    }

    /// Two of them take two processors; the kernel gives the cache's threads their turn.
    @Test func tasksThatComputeOnTheExecutorDoNotStarveTheCache() async throws {
        try await withTaskExecutorPreference(BlockingExecutor(width: 1)) {
            try await Self.workWhileTasksCompute()
        }
    }

    private static func workWhileTasksCompute() async throws {
        let container = try TemporaryContainer()
        let cache = try await container.cache()
        try await cache.store(noise(1000), as: ItemMetadata("key"))
        let spinning = Spinning()
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let tasks = (0..<cores).map { _ in Task(executorPreference: cache.executor) { spinning.spin() } }
        while spinning.count < cores { await Task.yield() }
        defer { spinning.stop() }
        for _ in 0..<20 {
            let content = try await cache.read("key")
            #expect(content == noise(1000))
        }
        // And so does maintenance.
        let engine = try await cache.engine.running().engine
        while engine.hasPendingChanges, !spinning.isOver { await Task.yield() }
        let isThere = try await withTaskExecutorPreference(cache.executor) { try await cache.contains("key") }
        #expect(isThere)
        #expect(!spinning.isOver)
        spinning.stop()
        for task in tasks { await task.value }
        try await cache.close()
    }

    /// Computes until it is stopped, at most for a minute.
    private final class Spinning: Sendable {
        private let start = ContinuousClock.now
        private let running = Atomic<Int>(0)
        private let isStopped = Atomic<Bool>(false)

        var count: Int { running.load(ordering: .relaxed) }
        var isOver: Bool { isStopped.load(ordering: .relaxed) || start.duration(to: .now) > .seconds(60) }

        func stop() { isStopped.store(true, ordering: .relaxed) }

        func spin() {
            running.wrappingAdd(1, ordering: .relaxed)
            while !isOver {}
        }
    }
}

import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import Synchronization
import Testing

@testable import PrefetchCaching

/// Contract 8, while a cache is being closed: what it has on disk stays charged until it is gone.
@Suite struct CloseTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(8))
    private let budget = ByteCount.mebibytes(8)

    private func writers(_ engine: Engine) throws -> [String: Int64] {
        try engine.catalog.reading { transaction in
            let rows = try Row.fetchAll(transaction.database, sql: "SELECT session, allowance FROM writer")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        }
    }

    @Test func aStoreThatIsUnderWayIsGivenUpBeforeItsSpaceIsGivenBack() throws {
        let second = try container.engine()
        _ = try second.statistics()
        let first = try container.engine()
        let store = try first.begin("under way", expectedLength: 6 << 20)
        try store.append(mebibytes: 5)
        try first.close()
        #expect(try container.files(below: container.incoming).isEmpty)
        #expect(try writers(second).isEmpty)
        #expect(
            try second.store(noise(4 << 20), "late").isStored, "refused because of a cache that was closed")
        #expect(try container.chargedOnDisk() <= budget.bytes)
        #expect(store.end != nil)
    }

    @Test func whatNobodyHasClosedKeepsNoFile() throws {
        let fileSystem = InterceptingFileSystem()
        func open() throws {
            let engine = try container.engine(fileSystem: fileSystem)
            try engine.store(prose(100), "Doc.txt")
            _ = try engine.open("Doc.txt")
            #expect(fileSystem.openFiles > 0)
        }
        try open()
        #expect(fileSystem.openFiles == 0)
    }

    /// Whoever removes the folders after it must find nobody at work there.
    @Test func aSecondCloseReturnsWhenTheFirstHasClosed() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(100), "key")
        let hasReturned = DispatchSemaphore(value: 0)
        let isFirst = Mutex(true)
        fileSystem.intercept { _ in
            let isMeant = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isMeant else { return }
            // The first is in the middle of it.
            Thread.detachNewThread {
                do { try engine.close() } catch { Issue.record(error) }
                hasReturned.signal()
            }
            #expect(hasReturned.wait(timeout: .now() + 0.5) == .timedOut)
        }
        try engine.close()
        #expect(hasReturned.wait(timeout: .now() + 60) == .success)
    }

    @Test func aPartialThatCannotBeRemovedStaysCharged() throws {
        let second = try container.engine()
        _ = try second.statistics()
        let fileSystem = InterceptingFileSystem()
        let first = try container.engine(fileSystem: fileSystem)
        let store = try first.begin("under way", expectedLength: 6 << 20)
        try store.append(mebibytes: 5)
        fileSystem.fail { $0.kind == .unlink }
        try first.close()
        #expect(try container.partials().contains { $0.hasSuffix("-1") })
        #expect(try writers(second)[first.environment.session].map { $0 >= 5 << 20 } == true)
        // Who is refused because of it finds the lock free, and removes what is left.
        #expect(
            try second.store(noise(4 << 20), "late").isStored, "refused because of a cache that was closed")
        #expect(try container.chargedOnDisk() <= budget.bytes)
        #expect(try !container.partials().contains { $0.hasSuffix("-1") })
    }

    @Test func anItemThatTheUserAskedForIsGivenUpAsWell() throws {
        let engine = try container.engine()
        let store = try engine.beginDelivery("asked for", expectedLength: 3 << 20)
        try store.append(mebibytes: 2)
        #expect(try container.staged() != [])
        try engine.close()
        #expect(try container.staged() == [])
        #expect(throws: CacheError.closed) { try store.commit() }
    }

    @Test func anItemThatIsBeingCompletedIsThereWhole() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let store = try engine.begin("key", expectedLength: 3 << 20)
        try store.append(mebibytes: 2)
        let closing = DispatchSemaphore(value: 0)
        fileSystem.once(before: { $0.kind == .rename }) {
            Thread.detachNewThread {
                do { try engine.close() } catch { Issue.record(error) }
                closing.signal()
            }
            while engine.usage.isOpen { sched_yield() }
        }
        #expect(try store.commit().isStored)
        closing.wait()
        let reader = try container.engine()
        #expect(try writers(reader).isEmpty)
        #expect(try reader.statistics().items == 1)
        #expect(try reader.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test func maintenanceThatIsUnderWayIsWaitedFor() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let queue = Mutex<[@Sendable () -> Void]>([])
        let schedule = FlushSchedule(engine) { _, work in queue.withLock { $0.append(work) } }
        try engine.store(noise(1000), "key")
        schedule.noteWork()
        let works = queue.withLock { $0 }
        let isInside = DispatchSemaphore(value: 0)
        let hasEnded = Atomic<Bool>(false)
        let hasBegun = Atomic<Bool>(false)
        fileSystem.intercept { _ in
            guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
            isInside.signal()
            while engine.usage.isOpen { sched_yield() }
        }
        Thread.detachNewThread {
            for work in works { work() }
            hasEnded.store(true, ordering: .sequentiallyConsistent)
        }
        isInside.wait()
        try engine.close()
        // What is left of the schedule finds the cache closed.
        while !hasEnded.load(ordering: .sequentiallyConsistent) { sched_yield() }
        #expect(throws: CacheError.closed) { try engine.catalog.reading { _ in } }
        let rows = "SELECT (SELECT COUNT(*) FROM writer) + (SELECT COUNT(*) FROM unflushed)"
        #expect(try container.catalog.integer(sql: rows) == 0, "written to after it was closed")
    }

    @Test func aCallIsWaitedForAndNoneIsLetInAfterwards() throws {
        let usage = Usage()
        let isInside = DispatchSemaphore(value: 0)
        let hasEnded = Atomic<Bool>(false)
        Thread.detachNewThread {
            do {
                try usage.perform { () throws(CacheError) in
                    isInside.signal()
                    while usage.isOpen { sched_yield() }
                    hasEnded.store(true, ordering: .sequentiallyConsistent)
                }
            } catch {
                Issue.record(error)
            }
        }
        isInside.wait()
        #expect(usage.close())
        let wasWaitedFor = hasEnded.load(ordering: .sequentiallyConsistent)
        #expect(wasWaitedFor)
        #expect(!usage.close())
        #expect(throws: CacheError.closed) { try usage.perform { () throws(CacheError) in } }
    }

    @Test func afterwardsTheCacheAndItsWritersSaySoAndChangeNothing() async throws {
        let cache = try await container.cache()
        let writer = try #require(try await cache.beginStoring(ItemMetadata("under way")).writer)
        #expect(try await writer.write(noise(300_000)) == nil)
        try await cache.close()
        let before = try container.files(below: container.root)
        await #expect(throws: CacheError.closed) { try await writer.write(noise(300_000)) }
        await #expect(throws: CacheError.closed) { try await writer.commit() }
        await #expect(throws: CacheError.closed) { try await writer.cancel() }
        await #expect(throws: CacheError.closed) {
            try await cache.store(noise(10), as: ItemMetadata("late"))
        }
        await #expect(throws: CacheError.closed) { try await cache.read("late") }
        await #expect(throws: CacheError.closed) { try await cache.statistics() }
        await #expect(throws: CacheError.closed) { try await cache.open([]) }
        for await event in cache.events { Issue.record("\(event) after the end") }
        #expect(try container.files(below: container.root) == before)
        #expect(try container.files(below: container.incoming).isEmpty)
    }
}

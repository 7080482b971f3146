import FileSystemTestSupport
import Foundation
import Logging
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A suspended cache holds nothing, and whoever uses it notices only that it takes longer.
@Suite struct SuspensionTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(64))

    private func writer(
        _ key: ItemKey, in cache: PrefetchCache, keepingPartial: Bool
    ) async throws -> CacheWriter {
        let begun = try await cache.beginStoring(
            ItemMetadata(key), encoding: .forced(.identity), keepingPartial: keepingPartial)
        guard case .writer(let writer) = begun else { throw CacheError.writerIsFinished }
        return writer
    }

    private func suspended() async throws -> PrefetchCache {
        let cache = try await container.cache()
        try await cache.store(prose(5000), as: ItemMetadata("key"))
        try await cache.suspend()
        return cache
    }

    /// Lets other tasks run for a while.
    private func yieldOften() async { for _ in 0..<1000 { await Task.yield() } }

    // MARK: What is released

    #if os(Linux)
        @Test func nothingIsHeldWhileItIsSuspended() async throws {
            let cache = try await container.cache()
            for key in ["opened", "pinned", "cached"] as [ItemKey] {
                try await cache.store(prose(5000), as: ItemMetadata(key))
            }
            _ = try await cache.open("opened")
            let pin = try await cache.pin("pinned")
            let item = container.item("pinned").lastPathComponent
            let kept = try await writer("kept", in: cache, keepingPartial: true)
            let dropped = try await writer("dropped", in: cache, keepingPartial: false)
            let asked = ItemMetadata("asked for", intent: .userRequested)
            let delivery = try #require(try await cache.beginStoring(asked).writer)
            for writer in [kept, dropped, delivery] {
                #expect(try await writer.write(noise(1_500_000)) == nil)
            }
            _ = try await cache.statistics()
            _ = try await cache.claim("claimed")

            let before = try HeldFiles(of: container)
            for name in ["record.sqlite", ".lock", ".chunks", ".claim", item] {
                #expect(before.files.contains { $0.hasSuffix(name) }, "\(name) in \(before)")
            }
            #expect(before.locks.count >= 5, "\(before)")
            try await cache.suspend()
            let during = try HeldFiles(of: container)
            #expect(during.isEmpty, "\(during)")
            // Kept by its name, and by nothing else.
            let names = [container.chunks("kept"), container.journal("kept")].map(\.lastPathComponent)
            #expect(try container.partials() == names)

            try await cache.resume()
            #expect(try HeldFiles(of: container).locks.contains { $0.hasSuffix(item) })
            pin?.release()
            try await cache.close()
            #expect(try HeldFiles(of: container).isEmpty)
        }
    #endif

    @Test func otherProcessesHaveItToThemselves() async throws {
        let cache = try await suspended()
        try container.catalog.execute(sql: "BEGIN EXCLUSIVE; ROLLBACK")
        let evicted = try BuiltProduct.run(
            "cachectl", ["evict", "--all", "--container", container.root.path])
        #expect(evicted.status == 0, "\(evicted.errors)")
        try await cache.resume()
        #expect(try await cache.read("key") == nil)
        #expect(try await cache.statistics().items == 0)
        try await cache.close()
    }

    /// As after closing it.
    @Test func aProcessThatIsKilledMeanwhileLeavesNothingToRecover() async throws {
        let cache = try await suspended()
        let rows = "SELECT (SELECT COUNT(*) FROM writer) + (SELECT COUNT(*) FROM unflushed)"
        #expect(try container.catalog.integer(sql: rows) == 0)
        #expect(try container.files(below: container.incoming).isEmpty)
        let fileSystem = InterceptingFileSystem()
        let listings = Mutex<[String]>([])
        fileSystem.intercept { operation in
            if operation.kind == .entries { listings.withLock { $0.append(operation.name) } }
        }
        let next = try container.engine(fileSystem: fileSystem, boot: "boot-2")
        #expect(try next.statistics().items == 1)
        let listed = listings.withLock { $0 }
        #expect(!listed.contains { KeyHash(hexadecimal: $0) != nil || $0.count == 2 }, "\(listed)")
        try next.close()
        try await cache.close()
    }

    // MARK: Calls

    @Test func callsWaitUntilItIsResumed() async throws {
        let cache = try await suspended()
        let ended = CallCounter()
        async let content = cache.read("key")
        async let outcome = cache.store(noise(1000), as: ItemMetadata("late"))
        async let opened = cache.open("key")
        let other = Task {
            try await cache.flush()
            _ = ended.next()
        }
        await yieldOften()
        #expect(ended.next() == 0)
        try await cache.resume()
        try await other.value
        // One of them opens it before or after it is read.
        #expect(try await content == prose(5000))
        #expect(try await outcome.isStored)
        #expect(try await opened?.isFirstOpen == true)
        #expect(try await cache.read("late") == noise(1000))
        try await cache.close()
    }

    @Test func aCallThatWaitsCanBeCancelled() async throws {
        let cache = try await suspended()
        let call = Task { try await cache.remove("key") }
        await yieldOften()
        call.cancel()
        await #expect(throws: CacheError.cancelled) { try await call.value }
        try await cache.resume()
        #expect(try await cache.contains("key"))
        try await cache.close()
    }

    @Test(arguments: [false, true])
    func aCallThatWaitsForAnotherProcessIsMadeAgain(isJoint: Bool) async throws {
        let attempts = Atomic<Int>(0)
        var environment = CacheEnvironment.live(
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        environment.probe = FixedVolumeProbe.roomy
        environment.fileSystem = InterceptingFileSystem { operation in
            if operation.kind == .lock { attempts.add(1, ordering: .relaxed) }
        }
        let clock = Atomic<Int>(0)
        environment.uptime = { .seconds(clock.add(1, ordering: .relaxed).newValue / 1000) }
        let cache = try await PrefetchCache(areas: container.areas(), environment: environment)
        try await cache.store(prose(5000), as: ItemMetadata("key"))
        // The lock of the ledger, as another process would hold it.
        let live = LiveFileSystem()
        let folder = try live.open(FilePath(container.support.path), in: .workingDirectory, .directory)
        #expect(try live.lock(folder, .exclusive, waiting: false))
        let before = attempts.load(ordering: .relaxed)
        let opening = Task {
            guard isJoint else { return try await cache.open("key") }
            return try await cache.open(["key"])[0].get().value
        }
        while attempts.load(ordering: .relaxed) < before + 20 { await Task.yield() }
        try await cache.suspend()
        #expect(clock.load(ordering: .relaxed) < 30_000)
        live.unlock(folder)
        try await cache.resume()
        #expect(try await opening.value?.isFirstOpen == true)
        try await cache.close()
    }

    @Test func aLongOpenIsGivenUpAndMadeAgain() async throws {
        let cache = try await container.cache()
        let content = prose(9 << 20)
        for key in ["one", "two", "three"] as [ItemKey] {
            try await cache.store(key == "two" ? prose(100) : content, as: ItemMetadata(key))
        }
        let suspending = Mutex<Task<Void, any Error>?>(nil)
        let engine = try await cache.engine.running().engine
        // In the middle of the first of them.
        let progress: @Sendable (OpenProgress) -> Void = { _ in
            let isFirst = suspending.withLock { task in
                defer { task = task ?? Task { try await cache.suspend() } }
                return task == nil
            }
            while isFirst, engine.usage.isOpen { sched_yield() }
        }
        let batch = Task { try await cache.open(["one", "two", "three"], progress: progress) }
        while suspending.withLock({ $0 }) == nil { await Task.yield() }
        try await suspending.withLock { $0 }?.value
        #expect(try !container.files(below: container.documents).contains("one"))
        try await cache.resume()
        let files = try await batch.value.map { try $0.get().value }
        #expect(files.map { $0?.contentBytes } == [9 << 20, 100, 9 << 20])
        #expect(files.allSatisfy { $0?.isFirstOpen == true })
        #expect(try Data(contentsOf: #require(files[0]).url) == content)
        try await cache.close()
    }

    @Test func aWriterEndsAndItsWholeChunksAreKept() async throws {
        let cache = try await container.cache()
        let kept = try await writer("kept", in: cache, keepingPartial: true)
        let dropped = try await writer("dropped", in: cache, keepingPartial: false)
        for writer in [kept, dropped] { #expect(try await writer.write(noise(2_500_000)) == nil) }
        try await cache.suspend()
        // At once: whoever resumes the cache may be the one who writes.
        for writer in [kept, dropped] {
            await #expect(throws: CacheError.suspended) { try await writer.write(noise(1)) }
            await #expect(throws: CacheError.suspended) { try await writer.commit() }
            try await writer.cancel()
        }
        try await cache.resume()
        #expect(try await cache.partials().map(\.contentBytes) == [2 << 20])
        try await cache.close()
    }

    @Test func aVerificationEndsEarly() async throws {
        let cache = try await container.cache()
        for number in 0..<4 {
            try await cache.store(noise(2 << 20), as: ItemMetadata(ItemKey(number: number)))
        }
        let engine = try await cache.engine.running().engine
        let suspending = Mutex<Task<Void, any Error>?>(nil)
        let report = try await cache.verify { _ in
            suspending.withLock { task in task = task ?? Task { try await cache.suspend() } }
            while engine.usage.isOpen { sched_yield() }
        }
        #expect(!report.isComplete)
        try await suspending.withLock { $0 }?.value
        try await cache.close()
    }

    @Test func aMigrationGoesOn() async throws {
        let cache = try await container.cache()
        let folder = container.root.appending(path: "old")
        try folder.makeFolder()
        for number in 0..<4 { try prose(1000).write(to: folder.appending(path: "\(number)")) }
        let engine = try await cache.engine.running().engine
        let suspending = Mutex<Task<Void, any Error>?>(nil)
        let migration = Task {
            let files = Mutex<[String]>([])
            try await cache.migrate(
                MigrationRequest(of: FilePath(folder.path), as: .cached(to: .documents))
            ) { file in
                files.withLock { $0.append(file.path) }
                suspending.withLock { task in task = task ?? Task { try await cache.suspend() } }
                while engine.usage.isOpen { sched_yield() }
            }
            return files.withLock { $0 }
        }
        while suspending.withLock({ $0 }) == nil { await Task.yield() }
        try await suspending.withLock { $0 }?.value
        #expect(try container.files(below: folder) == ["1", "2", "3"])
        try await cache.resume()
        #expect(try await migration.value == ["0", "1", "2", "3"])
        #expect(try await cache.items().count == 4)
        try await cache.close()
    }

    // MARK: What lasts

    @Test func aPinHoldsAgainAfterwards() async throws {
        let cache = try await suspended()
        try await cache.resume()
        let pins = [try await cache.pin("key")]
        let other = try container.engine()
        try await cache.suspend()
        try await cache.resume()
        _ = try other.evict(.max)
        #expect(try await cache.contains("key"))
        try await cache.suspend()
        _ = try other.evict(.max)
        try await cache.resume()
        #expect(try await !cache.contains("key"))
        for pin in pins { pin?.release() }
        try other.close()
        try await cache.close()
    }

    @Test func listenersStay() async throws {
        let cache = try await suspended()
        var events = cache.events.makeAsyncIterator()
        try await cache.resume()
        try await cache.remove("key")
        #expect(await events.next() == .removed("key"))
        try await cache.suspend()
        try await cache.close()
        #expect(await events.next() == nil)
    }

    /// Otherwise a listener would take the volume for full for ever.
    @Test func theEndOfPressureIsReportedAfterwards() async throws {
        var environment = CacheEnvironment.live()
        let volume = ToldVolume(VolumeState(total: 1 << 40, available: 1 << 30))
        environment.probe = volume
        let cache = try await PrefetchCache(areas: container.areas(), environment: environment)
        var events = cache.events.makeAsyncIterator()
        try await cache.trim()
        #expect(await events.next() == .pressure(.elevated))
        try await cache.suspend()
        volume.tell(VolumeState(total: 1 << 40, available: 1 << 39))
        try await cache.resume()
        try await cache.trim()
        #expect(await events.next() == .pressure(.normal))
        try await cache.close()
    }

    // MARK: Order

    @Test func aSecondSuspensionAndASecondResumptionDoNothing() async throws {
        let cache = try await suspended()
        try await cache.suspend()
        try await cache.resume()
        let engine = try await cache.engine.running().engine
        try await cache.resume()
        #expect(try await cache.engine.running().engine === engine)
        #expect(try await cache.contains("key"))
        try await cache.close()
    }

    /// However long each of them takes.
    @MainActor @Test(arguments: [true, false])
    func theyHappenInTheOrderOfTheCalls(endsSuspended: Bool) async throws {
        let fileSystem = InterceptingFileSystem()
        let environment = try container.engine(fileSystem: fileSystem).environment
        let cache = try await PrefetchCache(areas: container.areas(), environment: environment)
        try await cache.store(prose(1000), as: ItemMetadata("key"))
        let gate = Atomic<Bool>(false)
        fileSystem.intercept { _ in while !gate.load(ordering: .relaxed) { sched_yield() } }
        var calls: [Task<Void, any Error>] = []
        for _ in 0..<8 {
            calls.append(Task { try await cache.suspend() })
            calls.append(Task { try await cache.resume() })
        }
        if endsSuspended { calls.append(Task { try await cache.suspend() }) }
        for _ in 0..<100 { await Task.yield() }
        gate.store(true, ordering: .relaxed)
        for call in calls { try await call.value }
        #expect(try await cache.isSuspended == endsSuspended)
        if endsSuspended { try await cache.resume() }
        #expect(try await cache.read("key") == prose(1000))
        try await cache.close()
    }

    @Test func aSuspendedCacheCanBeClosed() async throws {
        let cache = try await suspended()
        let call = Task { try await cache.read("key") }
        await yieldOften()
        try await cache.close()
        await #expect(throws: CacheError.closed) { try await call.value }
        await #expect(throws: CacheError.closed) { try await cache.read("key") }
        await #expect(throws: CacheError.closed) { try await cache.resume() }
        try await cache.suspend()
        try await cache.close()
    }

    // MARK: What others did meanwhile

    @Test func foldersThatWereRemovedAreMadeAnew() async throws {
        let cache = try await suspended()
        try container.root.appending(path: "Library").remove()
        try await cache.resume()
        #expect(try await cache.read("key") == nil)
        #expect(try await cache.store(prose(10), as: ItemMetadata("key")).isStored)
        #expect(try await cache.read("key") == prose(10))
        try await cache.close()
    }

    /// What the process has left may be taken for that of a dead one, and is locked while it is removed.
    @Test func itGoesOnUnderAnotherName() async throws {
        let cache = try await container.cache()
        try await cache.store(prose(5000), as: ItemMetadata("key"))
        let session = try await cache.engine.running().engine.environment.session
        try await cache.suspend()
        let live = LiveFileSystem()
        let incoming = try live.open(FilePath(container.incoming.path), in: .workingDirectory, .directory)
        let name = CacheLayout.lock(session: session)
        let left = try live.open(name, in: incoming, .createNew([.ownerReadWrite]))
        #expect(try live.lock(left, .exclusive, waiting: false))
        try await cache.resume()
        #expect(try await cache.store(prose(100), as: ItemMetadata("other")).isStored)
        live.unlock(left)
        try await cache.close()
    }

    @Test func whyItCannotBeResumedIsToldToAll() async throws {
        let cache = try await suspended()
        let call = Task { try await cache.contains("key") }
        await yieldOften()
        let file = container.support.appending(path: "configuration.json")
        let good = try Data(contentsOf: file)
        try Data("{".utf8).write(to: file)
        await #expect(throws: CacheError.self) { try await cache.resume() }
        await #expect {
            try await call.value
        } throws: { error in
            if case CacheError.configuration = error { true } else { false }
        }
        await #expect(throws: CacheError.self) { try await cache.contains("key") }
        try good.write(to: file)
        try await cache.resume()
        #expect(try await cache.contains("key"))
        try await cache.close()
    }

    @Test func aNewerLedgerIsNoticed() async throws {
        let cache = try await suspended()
        let engine = try container.engine()
        _ = try engine.open("key")
        try engine.close()
        let call = Task { try await cache.promotedFiles() }
        try container.record.execute(sql: "PRAGMA user_version = 99")
        try await cache.resume()
        await #expect(throws: CacheError.newerLedger(version: 99)) { try await call.value }
        try await cache.close()
    }

    // MARK: Stress

    private final class Work: Sendable {
        private let state = Mutex((calls: 0, isOver: false))

        var calls: Int { state.withLock { $0.calls } }
        var isOver: Bool { state.withLock { $0.isOver } }

        func add(_ calls: Int) { state.withLock { $0.calls += calls } }
        func end() { state.withLock { $0.isOver = true } }
    }

    @Test func noCallIsLostWhereItIsSuspendedAgainAndAgain() async throws {
        let cache = try await container.cache()
        let work = Work()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var number = 0
                    while !work.isOver || number < 20 {
                        number += 1
                        let key = try ItemKey("\(task)-\(number)")
                        let content = prose(3000 + number, seed: UInt64(task))
                        #expect(try await cache.store(content, as: ItemMetadata(key)).isStored)
                        #expect(try await cache.read(key) == content)
                        if number % 5 == 0 {
                            let file = try #require(try await cache.open(key))
                            #expect(try Data(contentsOf: file.url) == content)
                            #expect(file.isFirstOpen)
                        } else if number > 10 {
                            try await cache.remove(key)
                        }
                        work.add(3)
                    }
                }
            }
            for _ in 0..<40 {
                let before = work.calls
                try await cache.suspend()
                #if os(Linux)
                    let held = try HeldFiles(of: container)
                    #expect(held.isEmpty, "\(held)")
                #endif
                try await cache.resume()
                while work.calls < before + 8 { await Task.yield() }
            }
            work.end()
            try await group.waitForAll()
        }
        try await cache.close()
        let engine = try container.engine()
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
        try engine.close()
    }
}

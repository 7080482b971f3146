import FileSystemTestSupport
import Foundation
import Synchronization
import Testing

@testable import PrefetchCaching

/// What is in memory is written a second later, or at once when it is much. Time is made here.
@Suite struct FlushScheduleTests {
    /// Keeps what shall run later until the test says so.
    private final class Queue: Sendable {
        private let waiting = Mutex<[(delay: Duration, work: @Sendable () -> Void)]>([])

        var delays: [Duration] { waiting.withLock { $0.map(\.delay) } }

        func add(_ delay: Duration, _ work: @escaping @Sendable () -> Void) {
            waiting.withLock { $0.append((delay, work)) }
        }

        func runFirst() {
            let first = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            first?.work()
        }

        func runAll() {
            let due = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for (_, work) in due { work() }
        }
    }

    private let container = TemporaryContainer.make()
    private let engine: Engine
    private let queue = Queue()
    private let schedule: FlushSchedule

    init() throws {
        engine = try container.engine()
        schedule = FlushSchedule(engine) { [queue] delay, work in queue.add(delay, work) }
    }

    @Test func severalChangesAreWrittenTogetherASecondLater() throws {
        for number in 0..<5 {
            try engine.store(noise(100), ItemKey(number: number))
            schedule.noteWork()
        }
        #expect(queue.delays == [.seconds(1)])
        #expect(engine.hasPendingChanges)
        queue.runAll()
        #expect(!engine.hasPendingChanges)
        #expect(engine.catalog.inMemory { $0.allowance.free } == 0)
    }

    @Test func manyChangesAreWrittenAtOnce() throws {
        for number in 0..<Engine.backlogLimit {
            #expect(try engine.content(ItemKey(number: number)) == nil)
            schedule.noteWork()
        }
        #expect(queue.delays == [.seconds(1), .zero])
        queue.runAll()
        #expect(!engine.hasPendingChanges)
    }

    private func use(_ numbers: Range<Int>) throws {
        for number in numbers { engine.catalog.noteHit(try ItemKey(number: number).hash) }
    }

    /// Readers that note more than is written wait, but not for a catalog that nobody can write.
    @Test func readersWaitForALongBacklogUntilItIsTaken() async throws {
        let most = PendingChanges.mostWithoutWaiting
        try use(0..<most - 1)
        // Uses of one item are one change.
        try use(0..<most - 1)
        #expect(!schedule.hasLongBacklog)
        try use(most - 1..<most)
        #expect(schedule.hasLongBacklog)
        try engine.flush()
        #expect(!schedule.hasLongBacklog)
        try use(0..<most)
        await schedule.waitForBacklog()
        #expect(!schedule.hasLongBacklog, "it was waited for in vain")
        try use(most..<2 * most)
        #expect(!schedule.hasLongBacklog)
        try engine.flush()
        try use(0..<most)
        #expect(schedule.hasLongBacklog)
    }

    @Test(arguments: [(false, 20), (true, 500)])
    func readersWaitLongerWhileTheBacklogIsBeingWritten(isWriting: Bool, milliseconds: Int64) async throws {
        let slept = Mutex(Duration.zero)
        let schedule = FlushSchedule(
            engine, later: { _, _ in }, sleep: { time in slept.withLock { $0 += time } })
        engine.catalog.isWriting.store(isWriting, ordering: .relaxed)
        try use(0..<PendingChanges.mostWithoutWaiting)
        await schedule.waitForBacklog()
        #expect(slept.withLock(\.self) == .milliseconds(milliseconds))
        #expect(!schedule.hasLongBacklog)
    }

    @Test func aBacklogIsBoundedAndCountsEveryUse() throws {
        try use(0..<20_000)
        try use(0..<20_000)
        #expect(engine.catalog.inMemory { $0.pending.entries.count } < 17_000)
        #expect(try engine.statistics().hits == 40_000)
    }

    @Test func nothingIsWrittenAfterItWasStopped() throws {
        try engine.store(noise(100), "key")
        schedule.noteWork()
        schedule.stop()
        queue.runAll()
        #expect(engine.hasPendingChanges)
    }

    @Test func whatACancelledStoreHeldIsGivenBack() throws {
        let store = try engine.begin(ItemMetadata("key"), expectedLength: 6 << 20)
        try store.cancel()
        schedule.noteWork()
        queue.runAll()
        #expect(engine.catalog.inMemory { $0.allowance.free } == 0)
    }

    @Test(arguments: [false, true])
    func nothingIsScheduledWhileMaintenanceRuns(isIdle: Bool) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let schedule = FlushSchedule(engine) { [queue] delay, work in queue.add(delay, work) }
        try engine.store(noise(100), "key")
        if isIdle { schedule.watchWhileIdle() } else { schedule.noteWork() }
        let scheduledMeanwhile = Mutex<[[Duration]]>([])
        fileSystem.intercept { [queue] _ in
            engine.catalog.inMemory { $0.pending.missed("missing") }
            schedule.noteWork()
            scheduledMeanwhile.withLock { $0.append(queue.delays) }
        }
        queue.runAll()
        fileSystem.intercept { _ in }
        #expect(scheduledMeanwhile.withLock { !$0.isEmpty && $0.allSatisfy(\.isEmpty) })
        #expect(
            queue.delays == (isIdle ? [.seconds(1), .seconds(60)] : [.seconds(1)]),
            "what came meanwhile is written next")
        queue.runAll()
        #expect(!engine.hasPendingChanges)
    }

    @Test func workThatChangesNothingSchedulesNothing() {
        schedule.noteWork()
        #expect(queue.delays.isEmpty)
    }

    @Test func littleRoomLeftIsAMatterOfUrgency() throws {
        try engine.configure(.fixed(.mebibytes(1)))
        for number in 0..<60 {
            try engine.store(noise(20_000, seed: UInt64(number)), ItemKey(number: number))
        }
        schedule.noteWork()
        #expect(queue.delays == [.zero])
        queue.runAll()
        let report = try engine.capacity()
        #expect(report.chargedBytes + report.catalogBytes <= Watermarks.low(report.ceilingBytes))
        #expect(!engine.isUrgent)
    }

    @Test func theVolumeIsLookedAtOnceAMinuteWhileNothingHappens() throws {
        let item = ItemMetadata("short-lived", expiresAt: engine.environment.now() + 60_000)
        try engine.store(noise(100), as: item)
        for _ in 0..<60 { _ = engine.environment.now() }
        schedule.watchWhileIdle()
        #expect(queue.delays == [.seconds(60)])
        queue.runAll()
        #expect(try engine.statistics().items == 0, "an idle minute is used to tidy up")
        #expect(queue.delays == [.seconds(60)])
    }

    @Test func aBusyMinuteIsLeftToTheWorkInIt() throws {
        schedule.watchWhileIdle()
        try engine.store(noise(100), "key")
        schedule.noteWork()
        #expect(queue.delays == [.seconds(60), .seconds(1)])
        queue.runFirst()
        #expect(engine.hasPendingChanges, "the minute was busy, and the second is not over")
    }

    @Test func aCacheThatNobodyHoldsIsNotKeptForItsIdleMinutes() throws {
        weak var abandoned: FlushSchedule?
        do {
            let schedule = FlushSchedule(engine) { [queue] delay, work in queue.add(delay, work) }
            schedule.watchWhileIdle()
            abandoned = schedule
        }
        #expect(abandoned == nil)
        queue.runAll()
        #expect(queue.delays.isEmpty)
    }
}

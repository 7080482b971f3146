import Dispatch
import Foundation
import Synchronization
import Testing

@testable import PrefetchCaching

/// Threads that may block: few while they make progress, more when all of them wait.
@Suite(.timeLimit(.minutes(2))) struct BlockingExecutorTests {
    /// So that no test waits for others between its steps.
    private let own = BlockingExecutor(width: 1)

    /// What jobs do at the moment.
    private final class Jobs: Sendable {
        private let state = Mutex((underWay: 0, most: 0))
        private let end = DispatchSemaphore(value: 0)

        var underWay: Int { state.withLock(\.underWay) }
        var most: Int { state.withLock(\.most) }

        /// Blocks its thread until it is ended.
        func block() {
            state.withLock { state in
                state.underWay += 1
                state.most = max(state.most, state.underWay)
            }
            end.wait()
            state.withLock { $0.underWay -= 1 }
        }

        func endOne() { end.signal() }
    }

    @Test func jobsGoOnWhenAllThreadsWait() async {
        await withTaskExecutorPreference(own) { await Self.jobsGoOnWhenAllThreadsWait() }
    }

    private static func jobsGoOnWhenAllThreadsWait() async {
        let (executor, jobs) = (BlockingExecutor(), Jobs())
        let count = ProcessInfo.processInfo.activeProcessorCount + 20
        let tasks = (0..<count).map { _ in Task(executorPreference: executor) { jobs.block() } }
        while jobs.underWay < count { await Task.yield() }
        await Task(executorPreference: executor) { for _ in 0..<count { jobs.endOne() } }.value
        for task in tasks { await task.value }
        #expect(jobs.most == count)
        // The threads that were added are idle now, and can be woken.
        for _ in 0..<100 { await Task(executorPreference: executor) {}.value }
    }

    @Test func noMoreThreadsTakeJobsThanTheWidth() async {
        await withTaskExecutorPreference(own) { await Self.noMoreThreadsTakeJobsThanTheWidth() }
    }

    private static func noMoreThreadsTakeJobsThanTheWidth() async {
        let width = ProcessInfo.processInfo.activeProcessorCount + 3
        let (executor, jobs) = (BlockingExecutor(width: width), Jobs())
        let tasks = (0..<30).map { _ in Task(executorPreference: executor) { jobs.block() } }
        while jobs.underWay < width { await Task.yield() }
        for _ in tasks { jobs.endOne() }
        for task in tasks { await task.value }
        #expect(jobs.most == width)
    }

    @Test func jobsBeginInTheOrderInWhichTheyCame() async {
        await withTaskExecutorPreference(own) { await Self.jobsBeginInTheOrderInWhichTheyCame() }
    }

    private static func jobsBeginInTheOrderInWhichTheyCame() async {
        let executor = BlockingExecutor(width: 1)
        let (jobs, order) = (Jobs(), Order())
        let first = Task(executorPreference: executor) { jobs.block() }
        while jobs.underWay == 0 { await Task.yield() }
        let tasks = (0..<100).map { number in
            Task(executorPreference: executor) { order.add(number) }
        }
        jobs.endOne()
        await first.value
        for task in tasks { await task.value }
        #expect(order.numbers == Array(0..<100))
    }

    @Test func whoCallsAgainAndAgainGivesWayOnThreadsOfTheCacheOnlyToWhoWaits() async {
        let (lanes, jobs) = (Lanes(), Jobs())
        #expect(lanes.mustGiveWay(at: .milliseconds(5)))
        #expect(!lanes.mustGiveWay(at: .microseconds(5900)), "it did")
        await withTaskExecutorPreference(lanes.guests) {
            #expect(!lanes.mustGiveWay(at: .milliseconds(9)))
        }
        #expect(lanes.mustGiveWay(at: .milliseconds(13)))

        let executor = BlockingExecutor(width: 1)
        let tasks = (0..<2).map { _ in Task(executorPreference: executor) { jobs.block() } }
        while jobs.underWay == 0 { await Task.yield() }
        #expect(executor.hasWaitingJobs)
        for _ in tasks { jobs.endOne() }
        for task in tasks { await task.value }
        #expect(!executor.hasWaitingJobs)
    }

    private final class Order: Sendable {
        private let state = Mutex<[Int]>([])

        var numbers: [Int] { state.withLock { $0 } }

        func add(_ number: Int) { state.withLock { $0.append(number) } }
    }
}

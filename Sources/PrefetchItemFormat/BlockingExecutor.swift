internal import Dispatch
internal import Foundation
internal import PrefetchFileSystem
internal import Synchronization

/// Runs jobs on threads that may block, so that nothing waits for a device on Swift's cooperative threads.
///
/// As many threads as there are processors take one job after the other: to wake a thread costs more than most jobs. When
/// jobs have waited for a while, threads compute or wait for something; then there is one more, up to the width, and the
/// kernel shares the processors among them. Where the system starts no thread at all, that of ``Timers`` takes them, or
/// whoever enqueues one.
package final class BlockingExecutor: TaskExecutor {
    private struct State: Sendable {
        var jobs: ArraySlice<UnownedJob> = []
        /// How many jobs were taken so far.
        var taken = 0
        /// The threads that take jobs.
        var working = 0
        /// Whether somebody will look if jobs are taken.
        var isWatched = false
        /// How many jobs are to be taken by then.
        var expected = 0
        /// What wakes each thread without jobs, the next one last.
        var idle: [DispatchSemaphore] = []
    }

    /// What jobs that wait need.
    private enum Need {
        case nothing
        /// A thread that takes jobs: an idle one, or else a new one.
        case worker(DispatchSemaphore?)
        /// A look in a while.
        case look
    }

    /// For how long jobs may wait; timers add up to as much.
    private static let patience = Duration.milliseconds(1)
    /// For how long a thread beyond the eager ones takes jobs, before it looks whether it is still needed.
    private static let longestHelp = Duration.milliseconds(10)
    /// For how long a thread waits for jobs before it ends.
    private static let longestIdle = DispatchTimeInterval.seconds(1)

    private let width: Int
    /// How many threads are woken at once.
    private let eager: Int
    private let state = UnfairMutex(State())

    /// - Parameter width: The most threads that take jobs.
    package init(width: Int = 64) {
        self.width = width
        eager = min(width, max(2, ProcessInfo.processInfo.activeProcessorCount))
    }

    /// Whether jobs wait for a thread.
    package var hasWaitingJobs: Bool { state.withLock { !$0.jobs.isEmpty } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let missing = state.withLock { state in
            state.jobs.append(job)
            return need(&state)
        }
        meet(missing)
    }

    private func need(_ state: inout State) -> Need {
        if state.working < eager { return worker(&state) }
        return !state.isWatched && watch(&state) ? .look : .nothing
    }

    private func worker(_ state: inout State) -> Need {
        state.working += 1
        return .worker(state.idle.popLast())
    }

    /// - Returns: Whether jobs wait that one more thread could take.
    private func watch(_ state: inout State) -> Bool {
        state.isWatched = !state.jobs.isEmpty && state.working < width
        state.expected = state.taken + state.jobs.count
        return state.isWatched
    }

    private func meet(_ need: Need) {
        switch need {
        case .nothing: break
        case .look:
            if !Timers.shared.run(after: Self.patience, { self.look() }) {
                state.withLock { $0.isWatched = false }
            }
        case .worker(let idle?): idle.signal()
        case .worker(nil):
            // Not one of Dispatch's, which others may keep busy.
            if !startThread(named: "PrefetchCache", { self.run() }) { goWithout() }
        }
    }

    private func goWithout() {
        let isAlone = state.withLock { state in
            if state.working == 1 { return true }
            state.working -= 1
            return false
        }
        // Rather not here, where the caller may hold a lock.
        guard isAlone, !Timers.shared.run(after: .zero, { self.workHere() }) else { return }
        // The job may be the last to hold this executor, which the runtime does not while it enqueues.
        let this = Unmanaged.passRetained(self)
        defer { this.release() }
        workHere()
    }

    /// Looks if those jobs were taken that waited at the last look.
    private func look() {
        let (helper, isWatched) = state.withLock { state in
            let helper = state.taken < state.expected ? worker(&state) : .nothing
            return (helper, watch(&state))
        }
        meet(helper)
        if isWatched { meet(.look) }
    }

    /// Takes jobs, as no thread of this executor does: on the one of timers or, without one, on that of whoever has enqueued a
    /// job. Jobs that these enqueue wait for their turn.
    private func workHere() {
        while true {
            let job = state.withLock { state in
                let job = state.jobs.popFirst()
                if job == nil { state.working -= 1 } else { state.taken += 1 }
                return job
            }
            guard let job else { return }
            job.runSynchronously(on: asUnownedTaskExecutor())
            // In turn with other executors: a job may enqueue the next one again and again.
            if Timers.shared.run(after: .zero, { self.workHere() }) { return }
        }
    }

    // MARK: A thread

    private func run() {
        let wake = DispatchSemaphore(value: 0)
        while true {
            work(wake)
            if wake.wait(timeout: .now() + Self.longestIdle) == .success { continue }
            if leave(wake) { return }
            wake.wait()
        }
    }

    private func work(_ wake: DispatchSemaphore) {
        let start = ContinuousClock.now
        while true {
            let (job, missing) = state.withLock { state -> (UnownedJob?, Need) in
                let isDone = state.working > eager && start.duration(to: .now) > Self.longestHelp
                if !isDone, let job = state.jobs.popFirst() {
                    state.taken += 1
                    return (job, .nothing)
                }
                state.working -= 1
                // Which may be this thread again.
                state.idle.append(wake)
                return (nil, state.jobs.isEmpty ? .nothing : need(&state))
            }
            meet(missing)
            guard let job else { return }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// - Returns: `false` if the thread has been woken.
    private func leave(_ wake: DispatchSemaphore) -> Bool {
        state.withLock { state in
            guard let position = state.idle.firstIndex(where: { $0 === wake }) else { return false }
            state.idle.remove(at: position)
            return true
        }
    }
}

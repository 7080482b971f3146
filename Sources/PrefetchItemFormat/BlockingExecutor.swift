internal import Dispatch
internal import Foundation
internal import PrefetchFileSystem
internal import Synchronization

/// Runs jobs on threads that may block, so that nothing waits for a device on Swift's cooperative threads.
///
/// As many threads as there are processors take one job after the other: to wake a thread costs more than most jobs. When
/// jobs have waited for a while, threads compute or wait for something; then there is one more, up to ``width``, and the
/// kernel shares the processors among them. Where the system starts no thread at all, that of ``Timers`` takes them, or whoever enqueues one.
package final class BlockingExecutor: TaskExecutor {
    private struct State: Sendable {
        var jobs: ArraySlice<UnownedJob> = []
        /// How many jobs were taken so far.
        var taken = 0
        /// The threads that take jobs.
        var working = 0
        /// Whether a thread looks if jobs are taken.
        var isWatched = false
        /// Those that wait for a duty, the next one last.
        var idle: [IdleThread] = []
    }

    /// For how long jobs may wait.
    private static let patience = DispatchTimeInterval.milliseconds(2)
    /// For how long a thread beyond the eager ones takes jobs, before it looks whether it is still needed.
    private static let longestHelp = Duration.milliseconds(10)
    /// For how long a thread waits for a duty before it ends.
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
            return missingDuty(&state)
        }
        if let missing { call(missing) }
    }

    /// A duty that no thread has yet, and the idle thread for it, unless a new one is to have it.
    private func missingDuty(_ state: inout State) -> (duty: Duty, idle: IdleThread?)? {
        if state.working < eager {
            state.working += 1
            return (.work, state.idle.popLast())
        }
        guard !state.isWatched, state.working < width else { return nil }
        state.isWatched = true
        return (.watch, state.idle.popLast())
    }

    private func call(_ missing: (duty: Duty, idle: IdleThread?)) {
        if let idle = missing.idle { return idle.wake(for: missing.duty) }
        // Not one of Dispatch's, which others may keep busy.
        if startThread(named: "PrefetchCache", { [self] in run(missing.duty) }) { return }
        let isAlone = state.withLock { state in
            switch missing.duty {
            case .watch:
                state.isWatched = false
                return false
            case .work:
                state.working -= 1
                guard state.working == 0 else { return false }
                state.working = 1
                return true
            }
        }
        // Rather not here, where the caller may hold a lock.
        guard isAlone, !Timers.shared.run(after: .zero, { self.workHere() }) else { return }
        // The job may be the last to hold this executor, which the runtime does not while it enqueues.
        let this = Unmanaged.passRetained(self)
        defer { this.release() }
        workHere()
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

    private func run(_ first: Duty) {
        let this = IdleThread()
        var duty: Duty? = first
        while let current = duty {
            if current == .work || isNeeded(this) { work(this) }
            duty = this.duty(within: Self.longestIdle)
            if duty == nil, !leave(this) { duty = this.duty(within: .never) }
        }
    }

    private func work(_ this: IdleThread) {
        let start = ContinuousClock.now
        while true {
            let (job, other) = state.withLock { state -> (UnownedJob?, (duty: Duty, idle: IdleThread?)?) in
                let isDone = state.working > eager && start.duration(to: .now) > Self.longestHelp
                if !isDone, let job = state.jobs.popFirst() {
                    state.taken += 1
                    return (job, nil)
                }
                state.working -= 1
                // Which may be this thread again.
                state.idle.append(this)
                return (nil, state.jobs.isEmpty ? nil : missingDuty(&state))
            }
            if let other { call(other) }
            guard let job else { return }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Looks, as long as jobs are waiting, whether those of the last look were taken.
    ///
    /// - Returns: Whether the thread is to take some itself; otherwise it is idle.
    private func isNeeded(_ this: IdleThread) -> Bool {
        // How many must have been taken by the next look: those that wait now.
        var expected = state.withLock { $0.taken + $0.jobs.count }
        while true {
            this.pause(for: Self.patience)
            let (isNeeded, other) = state.withLock { state -> (Bool?, (duty: Duty, idle: IdleThread?)?) in
                if state.jobs.isEmpty {
                    state.isWatched = false
                    state.idle.append(this)
                    return (false, nil)
                }
                guard state.taken < expected else {
                    expected = state.taken + state.jobs.count
                    return (nil, nil)
                }
                state.working += 1
                state.isWatched = false
                return (true, state.jobs.count > 1 ? missingDuty(&state) : nil)
            }
            if let other { call(other) }
            if let isNeeded { return isNeeded }
        }
    }

    /// - Returns: `false` if the thread has been given a duty.
    private func leave(_ this: IdleThread) -> Bool {
        state.withLock { state in
            guard let position = state.idle.firstIndex(where: { $0 === this }) else { return false }
            state.idle.remove(at: position)
            return true
        }
    }
}

/// What a thread is woken for.
private enum Duty {
    /// To take jobs.
    case work
    /// To look if jobs are taken.
    case watch
}

/// A thread that has nothing to do.
private final class IdleThread: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let given = Mutex<Duty?>(nil)

    func wake(for duty: Duty) {
        given.withLock { $0 = duty }
        semaphore.signal()
    }

    /// Waits for a duty.
    func duty(within time: DispatchTimeInterval) -> Duty? {
        guard semaphore.wait(timeout: .now() + time) == .success else { return nil }
        return given.withLock { $0 }
    }

    /// Waits, while it cannot be woken: it is not among the idle ones.
    func pause(for time: DispatchTimeInterval) {
        _ = semaphore.wait(timeout: .now() + time)
    }
}

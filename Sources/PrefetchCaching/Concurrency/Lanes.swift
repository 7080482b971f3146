internal import Dispatch
internal import Synchronization

/// The threads of one cache, in lanes that do not take threads from each other.
///
/// Calls that may wait for another process and reads, which never do, have separate lanes: however many calls wait,
/// reads proceed. The user's tasks and maintenance have lanes of their own as well.
final class Lanes: Sendable {
    /// For tasks of the user that prefer the cache's executor.
    let guests = BlockingExecutor()
    private let reads = BlockingExecutor()
    private let calls = BlockingExecutor()
    private let background = DispatchQueue(label: "PrefetchCache.background", qos: .utility)

    enum Lane {
        /// Waits for nothing but the volume.
        case reads
        /// May wait for the catalog, and for locks of other processes.
        case calls
    }

    /// Runs `body` on a thread that may block: the current one if possible.
    func run<Result: Sendable, Failure: Error>(
        _ lane: Lane, _ body: @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        if withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor == guests.asUnownedTaskExecutor() }) {
            return try body()
        }
        return try await withTaskExecutorPreference(lane == .reads ? reads : calls) {
            () async throws(Failure) in try body()
        }
    }

    /// Runs `body` soon, on a thread that may block.
    func run(_ body: @escaping @Sendable () -> Void) {
        Task(executorPreference: calls) { body() }
    }

    /// Runs `body` later, once, on a thread that may block. One at a time.
    func run(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        // Not as nanoseconds in an `Int`, which has 32 bits on a watch and ends after two seconds.
        let (seconds, attoseconds) = delay.components
        background.asyncAfter(
            deadline: .now() + (Double(seconds) + Double(attoseconds) * 1e-18), execute: body)
    }
}

/// Runs jobs on threads that may block, so that files are never accessed on Swift's cooperative threads.
///
/// A job gets a thread of its own as long as there are fewer than ``width``: the kernel then shares the processors
/// among them, whatever a job computes or waits for. Further jobs wait for their turn.
package final class BlockingExecutor: TaskExecutor {
    private struct State: Sendable {
        var idle: [DispatchQueue] = []
        var threads = 0
        var waiting: ArraySlice<UnownedJob> = []
    }

    private let width: Int
    private let state = Mutex(State())

    /// - Parameter width: The most threads at a time.
    package init(width: Int = 64) {
        self.width = width
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread: DispatchQueue? = state.withLock { state in
            if let thread = state.idle.popLast() { return thread }
            guard state.threads < width else {
                state.waiting.append(job)
                return nil
            }
            state.threads += 1
            // Dispatch runs each serial queue on a thread of its own, but only as many jobs of a concurrent one as
            // there are processors.
            return DispatchQueue(label: "PrefetchCache", qos: .userInitiated)
        }
        guard let thread else { return }
        thread.async { self.work(job, on: thread) }
    }

    /// Runs a job, and then those that wait.
    private func work(_ job: UnownedJob, on thread: DispatchQueue) {
        var next: UnownedJob? = job
        while let job = next {
            job.runSynchronously(on: asUnownedTaskExecutor())
            next = state.withLock { state in
                if state.waiting.isEmpty { state.idle.append(thread) }
                return state.waiting.popFirst()
            }
        }
    }
}

internal import Dispatch
internal import Synchronization

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

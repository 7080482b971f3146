internal import Dispatch
internal import Synchronization

/// Threads that may block, so that files are never accessed on Swift's cooperative threads.
///
/// Jobs start in the order in which they come, at most ``width`` at a time. Each has a thread of its own until it
/// ends or suspends, however long others wait or compute: the system shares the processors among the threads. A
/// concurrent queue of Dispatch would not do: on Linux it has one thread per processor, and adds one a second while
/// all of them wait, and none while they compute.
package final class BlockingExecutor: TaskExecutor {
    /// The most jobs that run at a time: what Dispatch itself allows for threads that block.
    package static let width = 64

    private struct State {
        /// Serial queues without a job. Dispatch gives a serial queue a thread whenever it has something to do.
        var idle: [DispatchQueue] = []
        var queues = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs `body` later, once.
    func run(_ body: @escaping @Sendable () -> Void) {
        let queue: DispatchQueue? = state.withLock { state in
            if let queue = state.idle.popLast() { return queue }
            guard state.queues < Self.width else {
                state.waiting.append(body)
                return nil
            }
            state.queues += 1
            return DispatchQueue(label: "PrefetchCache", qos: .userInitiated)
        }
        queue?.async { self.drain(body, on: queue) }
    }

    private func drain(_ first: @Sendable () -> Void, on queue: DispatchQueue?) {
        first()
        while let next = next(for: queue) { next() }
    }

    private func next(for queue: DispatchQueue?) -> (@Sendable () -> Void)? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            if let queue { state.idle.append(queue) }
            return nil
        }
    }

    /// Runs `body` on a thread that may block.
    package func run<Result: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await withTaskExecutorPreference(self) { () async throws(Failure) in try body() }
    }

    /// Whether the current task prefers this executor: then a nonisolated async function runs on one of its threads.
    var isPreferred: Bool {
        withUnsafeCurrentTask { $0?.unownedTaskExecutor == asUnownedTaskExecutor() }
    }
}

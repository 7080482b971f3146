internal import Dispatch

/// Runs the cache's work on threads that may block, so that files are never accessed on Swift's cooperative
/// threads.
///
/// It is a task executor: a task that prefers it calls the cache without changing threads.
package final class BlockingExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "PrefetchCache", qos: .userInitiated, attributes: .concurrent)

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs `body` on a thread that may block.
    package func run<Result: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await withTaskExecutorPreference(self) { () async throws(Failure) in try body() }
    }

    /// Runs `body` later, once, on a thread that may block.
    func run(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        let nanoseconds =
            delay.components.seconds * 1_000_000_000 + delay.components.attoseconds / 1_000_000_000
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds)), execute: body)
    }
}

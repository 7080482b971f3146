internal import Dispatch

/// The threads of one cache, in lanes that do not take threads from each other.
///
/// Calls that may wait for another process and reads, which never do, have separate lanes: however many calls wait,
/// reads proceed. The user's tasks and maintenance have lanes of their own as well.
final class Lanes: Sendable {
    /// For tasks of the user that prefer the cache's executor.
    let guests = BlockingExecutor()
    /// For downloads, which are many at a time.
    let downloads = BlockingExecutor()
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
        let current = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
        if current == guests.asUnownedTaskExecutor() || current == downloads.asUnownedTaskExecutor() {
            return try body()
        }
        return try await withTaskExecutorPreference(lane == .reads ? reads : calls) {
            () async throws(Failure) in try body()
        }
    }

    /// Runs `body` soon, on a thread that may block.
    func run(_ body: @escaping @Sendable () -> Void) {
        start { body() }
    }

    /// Starts `body` on threads that may block, in a task of its own.
    func start(_ body: @escaping @Sendable () async -> Void) {
        Task.detached(executorPreference: calls, priority: .userInitiated) { await body() }
    }

    /// Runs `body` later, once, on a thread that may block. One at a time.
    func run(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        // Not as nanoseconds in an `Int`, which has 32 bits on a watch and ends after two seconds.
        let (seconds, attoseconds) = delay.components
        background.asyncAfter(
            deadline: .now() + (Double(seconds) + Double(attoseconds) * 1e-18), execute: body)
    }
}

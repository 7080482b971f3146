internal import Dispatch

/// The threads of one cache, in lanes that do not take threads from each other.
///
/// A call that may wait for another process has a lane other than a read, which never does: however many
/// wait, reads go on. The user's tasks and maintenance have lanes of their own as well.
final class Lanes: Sendable {
    /// For tasks of the user that prefer the cache's executor.
    let guests = BlockingExecutor()
    private let reads = BlockingExecutor()
    private let calls = BlockingExecutor()
    private let background = DispatchQueue(label: "PrefetchCache.background", qos: .userInitiated)

    enum Lane {
        /// Waits for the volume at most.
        case reads
        /// May wait for the catalog, and for locks of other processes.
        case calls
    }

    /// Runs `body` on a thread that may block: on the present one if that may.
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
        let nanoseconds =
            delay.components.seconds * 1_000_000_000 + delay.components.attoseconds / 1_000_000_000
        background.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds)), execute: body)
    }
}

internal import Synchronization

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
    /// When a call that was answered at once last let other tasks go first, in units of 2 ms of the uptime.
    private let lastTurn = Atomic<Int64>(0)
    private let background = BlockingExecutor(width: 1)

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

    /// Whether a call that is answered at once is to let other tasks go first, which one is in every 2 ms: a task that
    /// calls again and again, and is never suspended, would keep them from its thread for ever. On threads of the cache only if
    /// any wait: to change threads takes as long as some tens of reads.
    func mustGiveWay(at uptime: Duration) -> Bool {
        let (seconds, attoseconds) = uptime.components
        let now = seconds * 500 + attoseconds / 2_000_000_000_000_000
        let last = lastTurn.load(ordering: .relaxed)
        guard now != last,
            lastTurn.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return false }
        let current = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
        return [guests, downloads].first { $0.asUnownedTaskExecutor() == current }?.hasWaitingJobs ?? true
    }

    /// Runs `body` soon, on a thread that may block.
    func run(_ body: @escaping @Sendable () -> Void) {
        start { body() }
    }

    /// Starts `body` on threads that may block, in a task of its own.
    func start(_ body: @escaping @Sendable () async -> Void) {
        Task.detached(executorPreference: calls, priority: .userInitiated) { await body() }
    }

    /// What is due by then is done at once where the system starts no thread for timers; what is due later is not done.
    private static let soon = Duration.seconds(1)

    /// Runs `body` later, once, on a thread that may block. One at a time.
    func run(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        let run = { @Sendable [background] in
            _ = Task.detached(executorPreference: background, priority: .utility) { body() }
        }
        if delay > .zero, Timers.shared.run(after: delay, run) { return }
        if delay <= Self.soon { run() }
    }
}

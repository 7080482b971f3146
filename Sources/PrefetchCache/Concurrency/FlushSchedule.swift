internal import Logging
internal import Synchronization

/// Writes behind: about a second after the first change that is only in memory, or at once when many
/// wait.
final class FlushSchedule: Sendable {
    private static let delay = Duration.seconds(1)

    private enum State {
        case idle, scheduled, stopped
    }

    private let engine: Engine
    private let executor: BlockingExecutor
    private let state = Mutex(State.idle)

    init(_ engine: Engine, on executor: BlockingExecutor) {
        self.engine = engine
        self.executor = executor
    }

    var isStopped: Bool { state.withLock { $0 == .stopped } }

    /// - Returns: Whether it was running until now.
    func stop() -> Bool {
        state.withLock { state in
            defer { state = .stopped }
            return state != .stopped
        }
    }

    /// Called after every piece of work.
    func noteWork() {
        guard engine.hasPendingChanges else { return }
        let hasBacklog = engine.hasBacklog
        let isNew = state.withLock { state in
            guard state == .idle else { return false }
            state = .scheduled
            return true
        }
        guard isNew else { return }
        executor.run(after: hasBacklog ? .zero : Self.delay) { [self] in flush() }
    }

    private func flush() {
        let isRunning = state.withLock { state in
            guard state == .scheduled else { return false }
            state = .idle
            return true
        }
        guard isRunning else { return }
        do {
            try engine.flushAndRelinquish()
        } catch {
            // The changes stay in memory, and the next piece of work tries again.
            engine.environment.logger.warning("The catalog was not written.", metadata: ["error": "\(error)"])
        }
    }
}

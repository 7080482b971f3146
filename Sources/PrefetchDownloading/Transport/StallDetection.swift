internal import PrefetchFileSystem
internal import Synchronization

/// Ends exchanges whose servers say nothing, by one timer for all of them.
final class StallDetection: Sendable {
    private struct State {
        var exchanges: [Exchange] = []
        var timer: Task<Void, Never>?
    }

    private let timeout: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = UnfairMutex(State())

    init(after timeout: Duration, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.timeout = timeout
        self.sleep = sleep
    }

    deinit {
        state.withLock { $0.timer }?.cancel()
    }

    /// Watches an exchange until it is over.
    func watch(_ exchange: Exchange) {
        state.withLock { state in
            state.exchanges.removeAll(where: \.isOver)
            state.exchanges.append(exchange)
            if state.timer == nil { state.timer = start() }
        }
    }

    private func start() -> Task<Void, Never> {
        Task { [weak self, timeout, sleep] in
            repeat {
                do {
                    // Injected: a timer, which a test advances.
                    try await sleep(timeout)
                } catch {
                    return
                }
            } while self?.endStalled() == true
        }
    }

    /// - Returns: Whether any exchanges are left.
    private func endStalled() -> Bool {
        let exchanges = state.withLock { state in
            state.exchanges.removeAll(where: \.isOver)
            if state.exchanges.isEmpty { state.timer = nil }
            return state.exchanges
        }
        for exchange in exchanges { exchange.endIfStalled(after: timeout) }
        return !exchanges.isEmpty
    }
}

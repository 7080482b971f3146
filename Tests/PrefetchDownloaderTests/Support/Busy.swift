import Synchronization

/// Counts what is under way, and remembers the most.
final class Busy: Sendable {
    private let state = Mutex((count: 0, most: 0))

    var count: Int { state.withLock { $0.count } }
    var most: Int { state.withLock { $0.most } }

    func begin() {
        state.withLock { state in
            state.count += 1
            state.most = max(state.most, state.count)
        }
    }

    func end() { state.withLock { $0.count -= 1 } }
}

internal import Dispatch
internal import Synchronization

/// Admits calls until the cache is closed, and then waits for those under way.
final class Usage: Sendable {
    private struct State: Sendable {
        var calls = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let isEmpty = DispatchSemaphore(value: 0)

    /// - Throws: ``CacheError/closed``, and whatever `body` throws.
    func perform<Result>(_ body: () throws(CacheError) -> Result) throws(CacheError) -> Result {
        try state.withLock { state throws(CacheError) in
            guard !state.isClosed else { throw .closed }
            state.calls += 1
        }
        defer { leave() }
        do {
            return try body()
        } catch {
            throw error.reported
        }
    }

    private func leave() {
        let isLast = state.withLock { state in
            state.calls -= 1
            return state.isClosed && state.calls == 0
        }
        if isLast { isEmpty.signal() }
    }

    var isOpen: Bool { !state.withLock { $0.isClosed } }

    func requireOpen() throws(CacheError) {
        guard isOpen else { throw .closed }
    }

    /// Admits no more calls, and returns when none is under way.
    ///
    /// - Returns: Whether it was open until now.
    func close() -> Bool {
        let inside: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.calls
        }
        guard let inside else { return false }
        if inside > 0 { isEmpty.wait() }
        return true
    }
}

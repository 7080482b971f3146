internal import Dispatch
internal import PrefetchFileSystem
internal import Synchronization

/// Admits calls until the cache is closed or suspended, and then waits for those under way.
final class Usage: Sendable {
    private struct State: Sendable {
        var calls = 0
        /// What later calls throw: ``CacheError/closed`` or ``CacheError/suspended``.
        var ending: CacheError?
        /// Whether the end is not to take longer than ``haste``.
        var isHasty = false
    }

    /// The limit of waits while the cache is being suspended: the system grants about 5 seconds for everything.
    private static let hurry = Duration.seconds(1)
    /// The limit of waits while a process ends that leaves nothing but figures.
    private static let haste = Duration.milliseconds(100)

    private let state = UnfairMutex(State())
    private let isEmpty = DispatchSemaphore(value: 0)

    /// - Throws: ``CacheError/closed``, ``CacheError/suspended``, and whatever `body` throws.
    func perform<Result>(_ body: () throws(CacheError) -> Result) throws(CacheError) -> Result {
        if let ending = enter() { throw ending }
        defer { leave() }
        do {
            return try body()
        } catch {
            throw reported(error)
        }
    }

    /// - Returns: `nil` when no call is admitted, and what `body` returns.
    func performIfOpen<Result>(_ body: () -> Result?) -> Result? {
        guard enter() == nil else { return nil }
        defer { leave() }
        return body()
    }

    /// An error as the caller is to see it. A call that gave up a lock because the cache is being suspended is interrupted,
    /// and made again later.
    func reported(_ error: CacheError) -> CacheError {
        error.isBusy && isSuspended ? .suspended : error.reported
    }

    /// - Returns: Why the call is not admitted.
    private func enter() -> CacheError? {
        state.withLock { state in
            if state.ending == nil { state.calls += 1 }
            return state.ending
        }
    }

    private func leave() {
        let isLast = state.withLock { state in
            state.calls -= 1
            return state.ending != nil && state.calls == 0
        }
        if isLast { isEmpty.signal() }
    }

    private var ending: CacheError? { state.withLock { $0.ending } }

    var isOpen: Bool { ending == nil }

    var isSuspended: Bool { ending == .suspended }

    /// How long calls under way may wait for another process.
    var patience: Duration {
        state.withLock { state in
            if state.isHasty { return Self.haste }
            return state.ending == .suspended ? Self.hurry : Patience.limit
        }
    }

    func requireOpen() throws(CacheError) {
        // A call that was admitted before the cache is suspended goes on.
        if ending == .closed { throw .closed }
    }

    /// Called where a long call can be abandoned and made again later.
    ///
    /// - Throws: ``CacheError/suspended``.
    func requireNotSuspended() throws(CacheError) {
        if isSuspended { throw .suspended }
    }

    /// Admits no more calls, and returns when none is under way.
    ///
    /// - Parameters:
    ///   - reason: What later calls throw.
    ///   - isHasty: Whether what is under way, and what follows, is to wait for no other process for long.
    /// - Returns: Whether it was open until now.
    func close(because reason: CacheError = .closed, isHasty: Bool = false) -> Bool {
        let inside: Int? = state.withLock { state in
            guard state.ending == nil else { return nil }
            state.ending = reason
            state.isHasty = isHasty
            return state.calls
        }
        guard let inside else { return false }
        if inside > 0 { isEmpty.wait() }
        return true
    }
}

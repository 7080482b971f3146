import Synchronization

/// Waits that take no time, all but the timeouts, which last until the test ends them.
final class TestClock: Sendable {
    private struct State {
        var slept: [Duration] = []
        var lastNumber = 0
        var timeouts: [Int: CheckedContinuation<Void, Never>] = [:]
        var onTimeout: CheckedContinuation<Void, Never>?
    }

    /// What the downloader's stall timeout is by default. Tests do not change it.
    static let timeout = Duration.seconds(60)

    private let state = Mutex(State())

    /// Every wait that was asked for, but for the timeouts.
    var slept: [Duration] { state.withLock { $0.slept } }

    /// Lets a timeout that somebody waits for pass, or the next one.
    func passTimeout() async {
        while true {
            let sleeper = state.withLock { state in
                state.timeouts.keys.min().flatMap { state.timeouts.removeValue(forKey: $0) }
            }
            if let sleeper { return sleeper.resume() }
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.timeouts.isEmpty { state.onTimeout = continuation }
                    return !state.timeouts.isEmpty
                }
                if isThere { continuation.resume() }
            }
        }
    }

    func sleep(_ duration: Duration) async throws {
        guard duration == Self.timeout else {
            state.withLock { $0.slept.append(duration) }
            return try Task.checkCancellation()
        }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiting = state.withLock { state in
                    state.timeouts[number] = continuation
                    return state.onTimeout.take()
                }
                waiting?.resume()
                if Task.isCancelled { end(number) }
            }
        } onCancel: {
            end(number)
        }
        try Task.checkCancellation()
    }

    private func end(_ number: Int) {
        let sleeper = state.withLock { $0.timeouts.removeValue(forKey: number) }
        sleeper?.resume()
    }
}

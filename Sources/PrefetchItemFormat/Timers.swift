internal import Dispatch
internal import PrefetchFileSystem
internal import Synchronization

/// What is to be done later, on one thread of the process, which begins with the first timer. The clock goes on while the
/// machine sleeps.
///
/// Not `Task.sleep` nor a timer of Dispatch, which wait for ever for a thread that the system does not start.
package final class Timers: Sendable {
    package static let shared = Timers()

    private struct State: Sendable {
        var timers: [(due: ContinuousClock.Instant, body: @Sendable () -> Void)] = []
        var hasThread = false
    }

    private let state = UnfairMutex(State())
    private let change = DispatchSemaphore(value: 0)

    /// - Parameter body: Must not block.
    /// - Returns: `false` if no thread can be started. `body` is not run then.
    package func run(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> Bool {
        let due = ContinuousClock.now + delay
        let hasThread = state.withLock { state in
            defer { state.hasThread = true }
            state.timers.append((due, body))
            return state.hasThread
        }
        if hasThread || startThread(named: "timers", { self.serve() }) {
            change.signal()
            return true
        }
        state.withLock { state in
            state.timers = []
            state.hasThread = false
        }
        return false
    }

    /// Uses the thread of the caller.
    ///
    /// - Parameter begin: Called first; what it calls finds that there is a thread.
    package func serve(_ begin: () -> Void) -> Never {
        state.withLock { $0.hasThread = true }
        begin()
        serve()
    }

    private func serve() -> Never {
        while true {
            let (due, next) = state.withLock { state in
                let now = ContinuousClock.now
                let due = state.timers.filter { $0.due <= now }
                state.timers.removeAll { $0.due <= now }
                return (due, state.timers.map(\.due).min().map { now.duration(to: $0) })
            }
            for timer in due { timer.body() }
            guard due.isEmpty else { continue }
            guard let next else {
                change.wait()
                continue
            }
            // Not in the past, and not so far off that nanoseconds overflow.
            let milliseconds = Int32(clamping: Int64(next / .milliseconds(1)) + 1)
            _ = change.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
        }
    }

    /// As `Task.sleep(for:)`.
    package func sleep(for duration: Duration) async throws {
        let (stream, end) = AsyncStream.makeStream(of: Void.self)
        if run(after: duration, { end.finish() }) {
            for await _ in stream {}
        } else {
            let due = ContinuousClock.now + duration
            while ContinuousClock.now < due, !Task.isCancelled { await Task.yield() }
        }
        try Task.checkCancellation()
    }
}

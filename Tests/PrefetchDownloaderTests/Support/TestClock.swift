import Synchronization

/// Waits that take no time, all but the timeouts, which last until the test ends them.
final class TestClock: Sendable {
    private struct State {
        var slept: [Duration] = []
        var lastNumber = 0
        var timeouts: [Int: CheckedContinuation<Void, Never>] = [:]
        /// Those among them that are waits.
        var stopped: Set<Int> = []
        var areTimeoutsOver = false
        /// The waits that take no time.
        var mostInstant = Int.max
        var listener: AsyncStream<Int>.Continuation?
    }

    /// How often the downloader looks for stalls by default. Tests do not change it.
    static let timeout = Duration.seconds(60) / 16

    private let state = Mutex(State())

    /// Every wait that was asked for, but for the timeouts.
    var slept: [Duration] { state.withLock { $0.slept } }

    /// Waits until so many waits were asked for.
    func hasSlept(_ count: Int) async {
        let (counts, continuation) = AsyncStream.makeStream(
            of: Int.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            state.listener = continuation
            continuation.yield(state.slept.count)
        }
        for await slept in counts where slept >= count { return }
    }

    /// From now on, and for those who wait, a timeout takes no time either.
    func letTimeoutsPass() {
        let sleepers = state.withLock { state in
            state.areTimeoutsOver = true
            defer { state.timeouts = [:] }
            return Array(state.timeouts.values)
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// From the wait after so many on, each lasts until ``goOn()``.
    func stop(after count: Int) { state.withLock { $0.mostInstant = count } }

    func goOn() {
        let sleepers = state.withLock { state in
            state.mostInstant = .max
            defer { state.stopped = [] }
            return state.stopped.compactMap { state.timeouts.removeValue(forKey: $0) }
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    func sleep(_ duration: Duration) async throws {
        let isInstant = state.withLock { state in
            guard duration != Self.timeout else { return false }
            state.slept.append(duration)
            state.listener?.yield(state.slept.count)
            return state.slept.count <= state.mostInstant
        }
        guard !isInstant else {
            // Who asks again and again is to let others work.
            await Task.yield()
            return try Task.checkCancellation()
        }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    let isStopped = duration != Self.timeout
                    let isOver = isStopped ? state.mostInstant == .max : state.areTimeoutsOver
                    if !isOver { state.timeouts[number] = continuation }
                    if !isOver, isStopped { state.stopped.insert(number) }
                    return isOver
                }
                if isOver { continuation.resume() } else if Task.isCancelled { end(number) }
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

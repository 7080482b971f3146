internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization

/// First opens that tasks begin at the same time, and that share their flushes.
///
/// The first task opens its item itself. Those that come meanwhile wait without a thread, until the items of all that wait
/// are opened together. What may take long or wait for another process is left to its own task, which opens it alone.
final class SharedOpens: Sendable {
    typealias Outcome = Result<Lookup<PromotedFile>, CacheError>

    private struct Waiting: Sendable {
        let key: ItemKey
        let number: Int
        let continuation: CheckedContinuation<Outcome?, Never>
    }

    private struct State: Sendable {
        /// Whether something is being opened.
        var isBusy = false
        var waiting: [Waiting] = []
        /// How many have waited so far.
        var count = 0
    }

    private let state = Mutex(State())

    /// Has the caller open, if nothing is being opened. It calls ``end()`` afterwards.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
    }

    /// - Returns: Whether others wait, which ``openNext(in:)`` or ``giveUp()`` is to end.
    func end() -> Bool {
        state.withLock { state in
            state.isBusy = !state.waiting.isEmpty
            return state.isBusy
        }
    }

    /// Waits until the item was opened.
    ///
    /// - Returns: `nil` if it has to be opened alone, or the task is cancelled.
    func join(_ key: ItemKey) async -> Outcome? {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    // Whoever is cancelled later is found among those who wait.
                    guard state.isBusy, !Task.isCancelled else { return false }
                    state.waiting.append(Waiting(key: key, number: number, continuation: continuation))
                    return true
                }
                if !isWaiting { continuation.resume(returning: nil) }
            }
        } onCancel: {
            let cancelled = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            cancelled?.continuation.resume(returning: nil)
        }
    }

    /// Opens the items of those who wait.
    func openNext(in engine: Engine) {
        let next = take(Promotion.most)
        // A task that is cancelled does not end the opens of the others.
        let watcher = OpenWatcher(isCancelled: { false }, report: nil, usage: engine.usage)
        let outcomes = engine.openQuickly(next.map(\.key), for: watcher)
        for (waiting, outcome) in zip(next, outcomes) { waiting.continuation.resume(returning: outcome) }
    }

    /// Has all who wait open alone.
    func giveUp() {
        repeat {
            for waiting in take(.max) { waiting.continuation.resume(returning: nil) }
        } while end()
    }

    private func take(_ most: Int) -> [Waiting] {
        state.withLock { state in
            let first = Array(state.waiting.prefix(most))
            state.waiting.removeFirst(first.count)
            return first
        }
    }
}

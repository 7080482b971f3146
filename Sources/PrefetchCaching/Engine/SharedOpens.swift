internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization

/// First opens that tasks begin at the same time, and that share their flushes.
///
/// One task leads: it opens. Those that come meanwhile wait without a thread, and one of them leads next and opens for
/// all. What may take long or wait for another process is not opened by a leader, but by its own task, beside it.
final class SharedOpens: Sendable {
    typealias Outcome = Result<Lookup<PromotedFile>, CacheError>

    /// What a task that came while another one led is to do.
    enum Turn: Sendable {
        /// To call ``open(_:in:for:)`` and then ``pass()``.
        case lead
        /// Nothing: another task has opened the item.
        case opened(Outcome)
        /// To open the item alone.
        case alone
    }

    private struct Waiting: Sendable {
        let key: ItemKey
        let number: Int
        let continuation: CheckedContinuation<Turn, Never>
    }

    private struct State: Sendable {
        var isLed = false
        var waiting: [Waiting] = []
        /// How many have waited so far.
        var count = 0
    }

    private let state = Mutex(State())

    /// Has the caller lead, if no one does.
    func lead() -> Bool {
        state.withLock { Self.lead(&$0) }
    }

    private static func lead(_ state: inout State) -> Bool {
        defer { state.isLed = true }
        return !state.isLed
    }

    /// Waits until another task has opened the item, or the caller is to lead, or is cancelled.
    func join(_ key: ItemKey) async -> Turn {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let turn: Turn? = state.withLock { state in
                    // Whoever is cancelled later is found among those who wait.
                    if Task.isCancelled { return .alone }
                    if Self.lead(&state) { return .lead }
                    state.waiting.append(Waiting(key: key, number: number, continuation: continuation))
                    return nil
                }
                if let turn { continuation.resume(returning: turn) }
            }
        } onCancel: {
            let cancelled = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            cancelled?.continuation.resume(returning: .alone)
        }
    }

    /// Opens the item of the task that leads, and those of all that wait.
    ///
    /// - Parameter watcher: Of the task that leads. The others do not end with it.
    /// - Returns: `nil` for an item that has to be opened alone.
    func open(_ key: ItemKey, in engine: Engine, for watcher: OpenWatcher) -> Outcome? {
        let others: [Waiting] = state.withLock { state in
            let first = Array(state.waiting.prefix(Promotion.most - 1))
            state.waiting.removeFirst(first.count)
            return first
        }
        let common = OpenWatcher(isCancelled: { false }, report: nil, usage: watcher.usage)
        let outcomes = engine.openQuickly(
            [key] + others.map(\.key), for: others.isEmpty ? watcher : common)
        for (other, outcome) in zip(others, outcomes.dropFirst()) {
            other.continuation.resume(returning: outcome.map(Turn.opened) ?? .alone)
        }
        return outcomes[0]
    }

    /// Ends the lead of the caller, and has one of those who wait lead next.
    func pass() {
        let next: Waiting? = state.withLock { state in
            state.isLed = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.continuation.resume(returning: .lead)
    }
}

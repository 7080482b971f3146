internal import Synchronization

/// Limits the number of concurrent transfers, in all and per host.
final class TransferSlots: Sendable {
    private struct State {
        var queue: SlotQueue
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state: Mutex<State>

    init(_ configuration: DownloaderConfiguration) {
        state = Mutex(
            State(
                queue: SlotQueue(limit: configuration.transfers, limitPerHost: configuration.transfersPerHost)
            ))
    }

    /// Runs `body` when a slot is free; returns `nil` if the task was cancelled before.
    func use<Value>(_ entry: SlotQueue.Entry, _ body: () async -> Value) async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                change { state in
                    state.waiting[entry.number] = continuation
                    state.queue.add(entry)
                }
                // The handler may have run before there was anything to wake.
                if Task.isCancelled { wake(entry.number) }
            }
        } onCancel: {
            wake(entry.number)
        }
        defer { change { $0.queue.remove(entry.number) } }
        if Task.isCancelled { return nil }
        return await body()
    }

    /// Lets a download that waits for a slot go before those that nobody waits for.
    func raise(_ number: Int) {
        change { $0.queue.raise(number) }
    }

    private func wake(_ number: Int) {
        let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
        continuation?.resume()
    }

    private func change(_ body: (inout State) -> Void) {
        let started = state.withLock { state in
            body(&state)
            return state.queue.start().compactMap { state.waiting.removeValue(forKey: $0) }
        }
        for continuation in started { continuation.resume() }
    }
}

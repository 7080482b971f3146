public import PrefetchCache
internal import Synchronization

/// A handle on a download.
///
/// ```swift
/// for await event in download.events {
///     if case .progress(let progress) = event { show(progress) }
/// }
/// ```
///
/// The download continues when this object is dropped.
public final class Download: Sendable {
    /// The number of events that a listener may fall behind by before it loses the oldest. The last event is
    /// never lost.
    private static let bufferedEvents = 256

    private struct State {
        var latest: DownloadEvent?
        var outcome: DownloadOutcome?
        var listeners: [Int: AsyncStream<DownloadEvent>.Continuation] = [:]
        var lastListener = 0
        var waiting: [CheckedContinuation<DownloadOutcome, Never>] = []
        var onCancel: (@Sendable (Download) -> Void)?
    }

    /// The key of the content.
    public let key: ItemKey
    private let state = Mutex(State())

    init(_ key: ItemKey) {
        self.key = key
    }

    /// The events of the download, from the latest one on. Ends after ``DownloadEvent/finished(_:)``.
    public var events: AsyncStream<DownloadEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        let listener = state.withLock { state -> Int? in
            if let latest = state.latest { continuation.yield(latest) }
            guard state.outcome == nil else { return nil }
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        guard let listener else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            // The listener is released outside the lock.
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: listener) }
        }
        return stream
    }

    /// The outcome of the download. Waits for its end, also if the waiting task is cancelled.
    public var outcome: DownloadOutcome {
        get async {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiting.append(continuation) }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        }
    }

    /// Declares that the download is no longer wanted here. It ends when no other handle wants it, and what
    /// has been stored is kept for a later one; ``outcome`` then has the number of bytes.
    public func cancel() {
        let onCancel = state.withLock { $0.outcome == nil ? $0.onCancel : nil }
        onCancel?(self)
    }

    func whenCancelled(_ body: @escaping @Sendable (Download) -> Void) {
        state.withLock { $0.onCancel = body }
    }

    func receive(_ event: DownloadEvent) {
        // Under the lock, so that events arrive in order.
        let ended = state.withLock { state -> State? in
            guard state.outcome == nil else { return nil }
            state.latest = event
            for listener in state.listeners.values { listener.yield(event) }
            guard case .finished(let outcome) = event else { return nil }
            let ended = state
            state = State(latest: event, outcome: outcome)
            return ended
        }
        // Not under the lock, which the end of a stream takes as well.
        guard let ended, case .finished(let outcome) = event else { return }
        for listener in ended.listeners.values { listener.finish() }
        for continuation in ended.waiting { continuation.resume(returning: outcome) }
    }
}

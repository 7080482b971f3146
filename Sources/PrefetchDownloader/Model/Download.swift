public import PrefetchCache
internal import Synchronization

/// A download as the one who asked for it sees it.
///
/// ```swift
/// for await event in download.events {
///     if case .progress(let progress) = event { show(progress) }
/// }
/// ```
///
/// It goes on when this object is dropped: who prefetches need not stay to watch.
public final class Download: Sendable {
    /// Events that a listener may fall behind by before it loses the oldest. The last one is never lost.
    private static let bufferedEvents = 256

    private struct State {
        var latest: DownloadEvent?
        var outcome: DownloadOutcome?
        var listeners: [AsyncStream<DownloadEvent>.Continuation] = []
        var waiting: [CheckedContinuation<DownloadOutcome, Never>] = []
        var onCancel: (@Sendable (Download) -> Void)?
    }

    public let key: ItemKey
    private let state = Mutex(State())

    init(_ key: ItemKey) {
        self.key = key
    }

    /// What happens, from the latest event on. Ends after ``DownloadEvent/finished(_:)``.
    public var events: AsyncStream<DownloadEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        state.withLock { state in
            if let latest = state.latest { continuation.yield(latest) }
            if state.outcome == nil { state.listeners.append(continuation) } else { continuation.finish() }
        }
        return stream
    }

    /// Waits for the end.
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

    /// Says that the download is not wanted any more. It ends when nobody else wants it, and what has been stored is
    /// kept for a later one; ``outcome`` tells how much.
    public func cancel() {
        let onCancel = state.withLock { $0.outcome == nil ? $0.onCancel : nil }
        onCancel?(self)
    }

    func whenCancelled(_ body: @escaping @Sendable (Download) -> Void) {
        state.withLock { $0.onCancel = body }
    }

    func receive(_ event: DownloadEvent) {
        // Under the lock, so that events come in order.
        let waiting = state.withLock { state -> [CheckedContinuation<DownloadOutcome, Never>] in
            guard state.outcome == nil else { return [] }
            state.latest = event
            for listener in state.listeners { listener.yield(event) }
            guard case .finished(let outcome) = event else { return [] }
            state.outcome = outcome
            for listener in state.listeners { listener.finish() }
            defer {
                state.listeners = []
                state.waiting = []
                state.onCancel = nil
            }
            return state.waiting
        }
        guard case .finished(let outcome) = event else { return }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }
}

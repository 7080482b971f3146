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
        var listeners: [AsyncStream<DownloadEvent>.Continuation] = []
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
        state.withLock { state in
            if let latest = state.latest { continuation.yield(latest) }
            if state.outcome == nil { state.listeners.append(continuation) } else { continuation.finish() }
        }
        return stream
    }

    /// The outcome of the download. Waits for its end.
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

public import PrefetchCaching
internal import PrefetchFileSystem
internal import Synchronization

/// What a downloader has transferred since it was created.
public struct DownloadTotals: Hashable, Sendable {
    /// Requests sent, those of redirects and repeated attempts included.
    public internal(set) var requests = 0
    /// Bytes of bodies received: of content, or of what it was compressed to for the transfer.
    public internal(set) var receivedBytes: Int64 = 0
    /// Those of them that had been received before, or were stored once and evicted without having been used.
    public internal(set) var repeatedBytes: Int64 = 0
    /// Those of them that were not kept.
    public internal(set) var wastedBytes: Int64 = 0
}

/// An event of one of the downloads of a downloader.
public struct DownloaderEvent: Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The source of the item; empty if none was given.
    public let source: String
    /// What happened to its download.
    public let event: DownloadEvent
}

/// The totals and the events of all downloads of a downloader.
final class DownloadTally: Sendable {
    /// The number of events buffered per listener.
    private static let bufferedEvents = 4096

    private struct State {
        var totals = DownloadTotals()
        var listeners: [Int: AsyncStream<DownloaderEvent>.Continuation] = [:]
        var lastListener = 0
    }

    private let state = UnfairMutex(State())

    deinit {
        for listener in state.withLock({ $0.listeners.values }) { listener.finish() }
    }

    var totals: DownloadTotals { state.withLock { $0.totals } }

    func countRequest() { state.withLock { $0.totals.requests += 1 } }

    func count(received: Int64, again: Int64, inVain: Int64) {
        state.withLock { state in
            state.totals.receivedBytes += received
            state.totals.repeatedBytes += again
            state.totals.wastedBytes += inVain
        }
    }

    func note(_ event: DownloadEvent, of request: DownloadRequest) {
        let event = DownloaderEvent(key: request.key, source: request.source, event: event)
        // While holding the lock, so that the events arrive in order.
        state.withLock { for listener in $0.listeners.values { listener.yield(event) } }
    }

    func events() -> AsyncStream<DownloaderEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloaderEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            // The listener is released outside the lock.
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }
}

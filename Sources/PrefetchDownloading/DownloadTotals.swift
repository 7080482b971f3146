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

/// The totals of a downloader.
final class DownloadTally: Sendable {
    private let state = UnfairMutex(DownloadTotals())

    var totals: DownloadTotals { state.withLock { $0 } }

    func countRequest() { state.withLock { $0.requests += 1 } }

    func count(received: Int64, again: Int64, inVain: Int64) {
        state.withLock { totals in
            totals.receivedBytes += received
            totals.repeatedBytes += again
            totals.wastedBytes += inVain
        }
    }
}

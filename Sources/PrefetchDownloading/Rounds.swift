internal import PrefetchCaching

/// The lists that a downloader was handed, one of each source at a time: see ``PrefetchDownloader/prefetch(_:)``.
struct Rounds {
    /// After so many seconds without a download, the next one begins a new list.
    private static let longestPause: Int64 = 60
    /// After so many seconds the next download begins a new list in any case, so that a process that never pauses does not
    /// keep what it downloaded first for ever.
    private static let longestRound: Int64 = 86_400

    private var rounds: [String: Round] = [:]
    private var began: Int64?
    private var pausedAt: Int64?

    /// Notes, before any request of a list is added, that a key is requested whose download is not under way.
    ///
    /// - Parameter now: Seconds since 1970.
    mutating func begin(with request: DownloadRequest, now: Int64) {
        // A clock that was set back ends the pause as well.
        let isOver = pausedAt.map { !($0...$0 + Self.longestPause).contains(now) } ?? false
        let isOld = began.map { !($0...$0 + Self.longestRound).contains(now) } ?? true
        if isOver || isOld { (rounds, began) = ([:], now) }
        pausedAt = nil
        if rounds[request.source]?.contains(request.key) == true { rounds[request.source] = nil }
    }

    /// Adds a request at the end of the list of its source.
    mutating func turn(of request: DownloadRequest) -> Turn {
        let round = rounds[request.source] ?? Round()
        rounds[request.source] = round
        return round.add(request.key)
    }

    /// Notes that no download is under way.
    mutating func pause(now: Int64) { pausedAt = now }
}

internal import Foundation
internal import PrefetchCaching
internal import Synchronization

/// One download, shared by all handles that requested it.
final class DownloadJob: Sendable {
    /// Why a download ends early.
    enum Stop: Sendable {
        case cancelled
        case pressure(Pressure)
    }

    private struct State {
        var listeners: [Download] = []
        var latest: DownloadEvent?
        var task: Task<Void, Never>?
        var stop: Stop?
        var isUrgent = false
        var fetched = Fetched()
        var claim: FetchClaim?
    }

    let request: DownloadRequest
    let conditions: DownloadConditions
    /// The position in the order of arrival.
    let number: Int
    /// In milliseconds since 1970.
    let requestedAt = Int64(Date().timeIntervalSince1970 * 1000)
    let terms: AdmissionTerms
    private let state: Mutex<State>

    init(
        _ request: DownloadRequest, under conditions: DownloadConditions = [], number: Int,
        on terms: AdmissionTerms
    ) {
        self.request = request
        self.conditions = conditions
        self.number = number
        self.terms = terms
        state = Mutex(State(isUrgent: request.intent == .userRequested))
    }

    /// Whether the user is waiting for this download, or for another one that is queued behind it.
    var isUrgent: Bool { state.withLock { $0.isUrgent } }

    func makeUrgent() { state.withLock { $0.isUrgent = true } }

    var isStopped: Bool { state.withLock { $0.stop != nil } }

    /// Whether an attempt has begun.
    var hasStarted: Bool { state.withLock { $0.latest != nil } }

    /// - Returns: `false` if the download is over or stopping.
    func add(_ download: Download) -> Bool {
        state.withLock { state in
            guard state.latest?.isLast != true, state.stop == nil else { return false }
            state.listeners.append(download)
            if let latest = state.latest { download.receive(latest) }
            return true
        }
    }

    /// Removes a cancelled listener. Removing the last one stops the download, and its outcome has the kept bytes.
    func remove(_ download: Download) {
        let isLast = state.withLock { state in
            guard state.listeners.allSatisfy({ $0 === download }) else {
                state.listeners.removeAll { $0 === download }
                return false
            }
            // From now on no listener can be added.
            if state.stop == nil { state.stop = .cancelled }
            return true
        }
        if isLast { stop(.cancelled) } else { download.receive(.finished(.cancelled(keptBytes: 0))) }
    }

    /// Ends the download and keeps what can be kept. If called more than once, the first reason applies.
    func stop(_ reason: Stop) {
        let task = state.withLock { state in
            if state.stop == nil { state.stop = reason }
            return state.task
        }
        task?.cancel()
    }

    func start(on executor: any TaskExecutor, _ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.task = Task(executorPreference: executor) { await body() }
            if state.stop != nil { state.task?.cancel() }
        }
    }

    /// Waits until the download, if it was started, has ended and kept what can be kept.
    func waitUntilEnded() async { await state.withLock { $0.task }?.value }

    func emit(_ event: DownloadEvent) {
        let listeners = state.withLock { state in
            state.latest = event
            return state.listeners
        }
        for listener in listeners { listener.receive(event) }
    }

    /// Keeps the claim of the key until the attempt has ended.
    func keep(_ claim: FetchClaim) { state.withLock { $0.claim = claim } }

    /// Notes that the content is fetched from an offset on.
    ///
    /// - Parameter isKnown: Whether it was fetched and stored before, and evicted.
    func beginFetching(at offset: Int64, isKnown: Bool) {
        state.withLock { state in
            state.fetched.start = offset
            if isKnown { state.fetched.reached = .max }
        }
    }

    /// Notes that a piece of the content was received.
    func noteFetched(_ piece: ReceivedPiece, at offset: Int64) {
        let claim = state.withLock { state in
            state.fetched.add(piece, at: offset)
            return state.claim
        }
        claim?.showLife()
    }

    /// What was received since the last call, and the claim that was kept meanwhile.
    func takeFetched() -> (Fetched, FetchClaim?) {
        state.withLock { state in
            defer {
                (state.fetched.bytes, state.fetched.again, state.fetched.contentBytes) = (0, 0, 0)
                state.claim = nil
            }
            return (state.fetched, state.claim)
        }
    }

    /// The outcome of a download that was stopped.
    func stoppedOutcome(keptBytes: Int64) -> DownloadOutcome {
        switch state.withLock({ $0.stop }) {
        case .pressure(let pressure)?: .refused(.pressure(pressure), keptBytes: keptBytes)
        case .cancelled?, nil: .cancelled(keptBytes: keptBytes)
        }
    }
}

/// The bytes that a download received.
struct Fetched: Sendable {
    fileprivate(set) var bytes: Int64 = 0
    /// Those of them that had been received before.
    fileprivate(set) var again: Int64 = 0
    /// The content of them, which is more if it was encoded.
    fileprivate var contentBytes: Int64 = 0
    /// The offset in the content from which the last response was received.
    fileprivate var start: Int64 = 0
    /// How much of the content was received so far, by any attempt.
    fileprivate var reached: Int64 = 0

    fileprivate mutating func add(_ piece: ReceivedPiece, at offset: Int64) {
        let (received, count) = (Int64(piece.receivedBytes), Int64(piece.content.count))
        bytes += received
        contentBytes += count
        again += received.share(of: max(0, min(reached, offset + count) - offset), in: count)
        reached = max(reached, offset + count)
    }

    /// Those that were not kept.
    ///
    /// - Parameter keptBytes: Bytes of content that are kept; `nil` for all.
    func inVain(keeping keptBytes: Int64?) -> Int64 {
        keptBytes.map { bytes.share(of: max(0, contentBytes - max(0, $0 - start)), in: contentBytes) } ?? 0
    }
}

extension Int64 {
    /// The share of these bytes that belongs to a part of their content.
    fileprivate func share(of part: Int64, in whole: Int64) -> Int64 {
        if part == whole, whole > 0 { return self }
        // Exact for what is not encoded.
        return whole == self || part == 0 ? part : Int64(Double(self) * Double(part) / Double(whole))
    }
}

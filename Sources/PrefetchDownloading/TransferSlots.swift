internal import PrefetchFileSystem
internal import Synchronization

/// Limits the number of concurrent transfers, in total and per host, and leaves hosts alone that want that.
final class TransferSlots: Sendable {
    private struct State {
        var queue: SlotQueue
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state: UnfairMutex<State>

    init(_ configuration: DownloaderConfiguration) {
        let queue = SlotQueue(limit: configuration.transfers, limitPerHost: configuration.transfersPerHost)
        state = UnfairMutex(State(queue: queue))
    }

    /// Has a download wait for a slot, which it has until ``free(_:)``.
    func add(_ entry: SlotQueue.Entry) { change { $0.queue.add(entry) } }

    func free(_ number: Int) { change { $0.queue.remove(number) } }

    /// Returns when a download that was added has its slot, or its task is cancelled.
    func wait(for number: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // The cancellation handler may have run before the continuation was stored.
                    if state.queue.isRunning(number) || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    /// Moves a waiting download ahead of opportunistic ones.
    func raise(_ number: Int) {
        change { $0.queue.raise(number) }
    }

    /// Whether a download waits for one from a host to end.
    func areAwaited(for host: String) -> Bool { state.withLock { $0.queue.isAwaited(host) } }

    /// Starts no download of a host until as many calls of ``resume(_:)``.
    ///
    /// - Parameter delay: Returns for how long, after it was paused so often in a row, not counting pauses that overlap; `nil` if
    ///   all its downloads are to fail for the reason instead, without a request.
    func pause(
        _ host: String, because reason: DownloadError.Reason, for delay: (Int) -> Duration?
    ) -> Duration? {
        var result: Duration?
        change { state in
            var busy = state.queue.busyHosts[host] ?? SlotQueue.BusyHost()
            if busy.pauses == 0 { busy.count += 1 }
            busy.pauses += 1
            result = delay(busy.count)
            if result == nil { busy.refusal = reason }
            state.queue.busyHosts[host] = busy
        }
        return result
    }

    func resume(_ host: String) {
        change { state in
            state.queue.busyHosts[host]?.pauses -= 1
            if state.queue.busyHosts[host]?.pauses == 0 { state.queue.busyHosts[host]?.refusal = nil }
        }
    }

    /// Notes that a host has sent what it was asked for.
    func noteAnswer(of host: String) {
        state.withLock { state in
            state.queue.busyHosts[host]?.count = 0
            if state.queue.busyHosts[host]?.pauses == 0 { state.queue.busyHosts[host] = nil }
        }
    }

    func isPaused(_ host: String) -> Bool { state.withLock { $0.queue.isPaused(host) } }

    func refusal(of host: String) -> DownloadError.Reason? {
        state.withLock { $0.queue.busyHosts[host]?.refusal }
    }

    private func change(_ body: (inout State) -> Void) {
        let started = state.withLock { state in
            body(&state)
            return state.queue.start().compactMap { state.waiting.removeValue(forKey: $0) }
        }
        for continuation in started { continuation.resume() }
    }
}

/// Decides which downloads may transfer, and in which order. Pure logic, without concurrency.
struct SlotQueue: Sendable {
    struct Entry: Hashable, Sendable {
        let number: Int
        let host: String
        var isRequested: Bool
        var priority: Float

        /// User-requested downloads come first, then those of higher priority, then those that arrived first.
        func precedes(_ other: Entry) -> Bool {
            if isRequested != other.isRequested { return isRequested }
            if priority != other.priority { return priority > other.priority }
            return number < other.number
        }
    }

    /// A host that has answered that there are too many requests.
    struct BusyHost: Sendable {
        /// The pauses that are not over.
        var pauses = 0
        /// How often it was paused since it last sent something.
        var count = 0
        /// Why it is not asked at all: it wants a longer pause than any download waits for.
        var refusal: DownloadError.Reason?
    }

    private let limit: Int
    private let limitPerHost: Int
    var busyHosts: [String: BusyHost] = [:]
    private var waiting: [Int: Entry] = [:]
    /// The waiting entries by host, sorted on demand, with the next one to start last. Stale entries, which were removed
    /// or raised, are dropped when they come last.
    private var queues: [String: [Entry]] = [:]
    private var unsortedHosts: Set<String> = []
    /// The hosts of the running entries.
    private var running: [Int: String] = [:]

    init(limit: Int, limitPerHost: Int) {
        self.limit = max(1, limit)
        self.limitPerHost = max(1, limitPerHost)
    }

    mutating func add(_ entry: Entry) {
        waiting[entry.number] = entry
        queues[entry.host, default: []].append(entry)
        unsortedHosts.insert(entry.host)
    }

    /// Makes a waiting entry user-requested.
    mutating func raise(_ number: Int) {
        guard var entry = waiting[number], !entry.isRequested else { return }
        entry.isRequested = true
        add(entry)
    }

    func isRunning(_ number: Int) -> Bool { running[number] != nil }

    /// Removes an entry, whether it is waiting or running.
    mutating func remove(_ number: Int) {
        if running.removeValue(forKey: number) == nil { waiting[number] = nil }
    }

    /// Starts the entries that may run. An entry whose host is busy does not block others.
    ///
    /// - Complexity: O(*h*) per started entry, with *h* hosts, and a sort of the entries of each idle host to which some
    ///   were added. Those are nearly sorted, which takes linear time.
    mutating func start() -> [Int] {
        var started: [Int] = []
        while running.count < limit {
            let idle = queues.keys.filter { host in
                !isPaused(host) && running.values.count { $0 == host } < limitPerHost
            }
            guard let entry = idle.compactMap({ next(of: $0) }).min(by: { $0.precedes($1) }) else { break }
            queues[entry.host]?.removeLast()
            waiting[entry.number] = nil
            running[entry.number] = entry.host
            started.append(entry.number)
        }
        return started
    }

    /// Whether an entry waits for one of a host to end.
    ///
    /// - Complexity: O(*n*) in the waiting entries.
    func isAwaited(_ host: String) -> Bool {
        waiting.values.contains { $0.host == host || running.count >= limit }
    }

    /// Whether the entries of a host have to wait: of one that is not asked at all, they start and fail.
    func isPaused(_ host: String) -> Bool {
        busyHosts[host].map { $0.pauses > 0 && $0.refusal == nil } ?? false
    }

    private mutating func next(of host: String) -> Entry? {
        if unsortedHosts.remove(host) != nil { queues[host]?.sort { $1.precedes($0) } }
        while let last = queues[host]?.last {
            if waiting[last.number] == last { return last }
            queues[host]?.removeLast()
        }
        queues[host] = nil
        return nil
    }
}

internal import Synchronization

/// Limits the number of concurrent transfers, in total and per host.
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

    /// Runs `body` when a slot is free; returns `nil` if the task was cancelled while waiting.
    func use<Value>(_ entry: SlotQueue.Entry, _ body: () async -> Value) async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                change { state in
                    state.waiting[entry.number] = continuation
                    state.queue.add(entry)
                }
                // The cancellation handler may have run before the continuation was stored.
                if Task.isCancelled { wake(entry.number) }
            }
        } onCancel: {
            wake(entry.number)
        }
        defer { change { $0.queue.remove(entry.number) } }
        if Task.isCancelled { return nil }
        return await body()
    }

    /// Moves a waiting download ahead of opportunistic ones.
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

    private let limit: Int
    private let limitPerHost: Int
    private var waiting: [Int: Entry] = [:]
    /// By host. Stale entries, which were removed or raised, are dropped when they reach the top of their heap.
    private var heaps: [String: EntryHeap] = [:]
    private var running: [Int: String] = [:]
    private var runningPerHost: [String: Int] = [:]

    init(limit: Int, limitPerHost: Int) {
        self.limit = max(1, limit)
        self.limitPerHost = max(1, limitPerHost)
    }

    /// - Complexity: O(log *n*).
    mutating func add(_ entry: Entry) {
        waiting[entry.number] = entry
        heaps[entry.host, default: EntryHeap()].insert(entry)
    }

    /// Makes a waiting entry user-requested.
    mutating func raise(_ number: Int) {
        guard var entry = waiting[number], !entry.isRequested else { return }
        entry.isRequested = true
        add(entry)
    }

    /// Removes an entry, whether it is waiting or running.
    mutating func remove(_ number: Int) {
        guard let host = running.removeValue(forKey: number) else {
            waiting[number] = nil
            return
        }
        let rest = runningPerHost[host, default: 1] - 1
        runningPerHost[host] = rest == 0 ? nil : rest
    }

    /// Starts the entries that may run. An entry whose host is busy does not block others.
    ///
    /// - Complexity: O(*h* + log *n*) per started entry, with *h* hosts.
    mutating func start() -> [Int] {
        var started: [Int] = []
        while running.count < limit, let entry = next() {
            _ = heaps[entry.host]?.removeFirst()
            waiting[entry.number] = nil
            running[entry.number] = entry.host
            runningPerHost[entry.host, default: 0] += 1
            started.append(entry.number)
        }
        return started
    }

    private mutating func next() -> Entry? {
        var next: Entry?
        for host in Array(heaps.keys) where runningPerHost[host, default: 0] < limitPerHost {
            while let first = heaps[host]?.first, waiting[first.number] != first {
                _ = heaps[host]?.removeFirst()
            }
            guard let first = heaps[host]?.first else {
                heaps[host] = nil
                continue
            }
            if next.map({ first.precedes($0) }) ?? true { next = first }
        }
        return next
    }
}

/// A binary heap, ordered by ``SlotQueue/Entry/precedes(_:)``.
private struct EntryHeap {
    private var entries: [SlotQueue.Entry] = []

    var first: SlotQueue.Entry? { entries.first }

    mutating func insert(_ entry: SlotQueue.Entry) {
        var child = entries.count
        entries.append(entry)
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].precedes(entries[parent]) else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() -> SlotQueue.Entry? {
        guard let last = entries.popLast() else { return nil }
        guard let first = entries.first else { return last }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].precedes(entries[least]) {
                least = child
            }
            guard least != parent else { return first }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}

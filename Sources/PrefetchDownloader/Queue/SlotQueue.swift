/// Decides which downloads may transfer now, and which are next: a pure value.
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
    private var waiting: [Entry] = []
    private var running: [Int: String] = [:]

    init(limit: Int, limitPerHost: Int) {
        self.limit = max(1, limit)
        self.limitPerHost = max(1, limitPerHost)
    }

    mutating func add(_ entry: Entry) {
        let index = waiting.firstIndex { entry.precedes($0) } ?? waiting.endIndex
        waiting.insert(entry, at: index)
    }

    /// Removes an entry, whether it is waiting or running.
    mutating func remove(_ number: Int) {
        if running.removeValue(forKey: number) == nil { waiting.removeAll { $0.number == number } }
    }

    /// Starts the entries that may run. One whose host is busy does not hold up others.
    mutating func start() -> [Int] {
        var started: [Int] = []
        var perHost: [String: Int] = [:]
        for host in running.values { perHost[host, default: 0] += 1 }
        waiting.removeAll { entry in
            guard running.count < limit, perHost[entry.host, default: 0] < limitPerHost else { return false }
            running[entry.number] = entry.host
            perHost[entry.host, default: 0] += 1
            started.append(entry.number)
            return true
        }
        return started
    }
}

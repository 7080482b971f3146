/// Who may transfer now, and who is next: a pure value.
struct SlotQueue: Sendable {
    struct Entry: Hashable, Sendable {
        let number: Int
        let host: String
        var isRequested: Bool
        var priority: Float

        /// What the user waits for comes first, then the higher priority, then who came first.
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

    /// Takes an entry out, whether it waits or runs.
    mutating func remove(_ number: Int) {
        if running.removeValue(forKey: number) == nil { waiting.removeAll { $0.number == number } }
    }

    /// Lets those run that may. One whose host is busy holds nobody else up.
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

@_spi(Simulation) @testable import PrefetchCaching

/// A queue of numbers from the oldest to the newest.
struct ModelQueue {
    private(set) var oldest: Int?
    private var newest: Int?
    private var older: [Int: Int] = [:]
    private var newer: [Int: Int] = [:]

    mutating func append(_ number: Int) {
        older[number] = newest
        if let newest { newer[newest] = number } else { oldest = number }
        newest = number
    }

    mutating func remove(_ number: Int) {
        let (before, after) = (older.removeValue(forKey: number), newer.removeValue(forKey: number))
        if let before { newer[before] = after } else { oldest = after }
        if let after { older[after] = before } else { newest = before }
    }

    /// What came after `number`, towards the newest.
    func next(_ number: Int) -> Int? { newer[number] }
}

/// A policy as a textbook has it, in memory: what the real one is compared with.
protocol PolicyModel {
    init()
    mutating func stored(_ number: Int)
    mutating func used(_ number: Int)
    /// Chooses who goes, and forgets it.
    mutating func evict() -> Int?
}

struct LeastRecentlyUsedModel: PolicyModel {
    private var queue = ModelQueue()

    mutating func stored(_ number: Int) { queue.append(number) }

    mutating func used(_ number: Int) {
        queue.remove(number)
        queue.append(number)
    }

    mutating func evict() -> Int? {
        guard let victim = queue.oldest else { return nil }
        queue.remove(victim)
        return victim
    }
}

struct FirstInFirstOutModel: PolicyModel {
    private var queue = ModelQueue()

    mutating func stored(_ number: Int) { queue.append(number) }
    mutating func used(_ number: Int) {}

    mutating func evict() -> Int? {
        guard let victim = queue.oldest else { return nil }
        queue.remove(victim)
        return victim
    }
}

/// As in the paper and in libCacheSim: the hand starts at the tail, which is the oldest, and goes towards
/// the head; it clears the marks that it passes, evicts the first that bears none, and stays at the one
/// before that. When it passes the head it starts again at the tail.
struct SieveModel: PolicyModel {
    private var queue = ModelQueue()
    private var visited: Set<Int> = []
    private var hand: Int?

    mutating func stored(_ number: Int) { queue.append(number) }
    mutating func used(_ number: Int) { visited.insert(number) }

    mutating func evict() -> Int? {
        guard var victim = hand ?? queue.oldest else { return nil }
        while visited.remove(victim) != nil {
            guard let next = queue.next(victim) ?? queue.oldest else { return nil }
            victim = next
        }
        hand = queue.next(victim)
        queue.remove(victim)
        return victim
    }
}

extension EvictionPolicyChoice {
    var model: any PolicyModel {
        switch self {
        // Without a history, nothing tells items apart but their use.
        case .lru, .value: LeastRecentlyUsedModel()
        case .fifo: FirstInFirstOutModel()
        case .sieve: SieveModel()
        }
    }
}

/// A cache of a policy's model.
struct ModelCache {
    let capacity: Int64
    private(set) var tally = EvictionSimulation.Result()
    private(set) var sizes: [Int: Int64] = [:]
    private var policy: any PolicyModel

    init(capacity: Int64, _ policy: EvictionPolicyChoice) {
        self.capacity = capacity
        self.policy = policy.model
    }

    /// - Returns: Whether it was a hit.
    @discardableResult
    mutating func request(_ number: Int, size: Int64) -> Bool {
        tally.requests += 1
        if sizes[number] != nil {
            tally.hits += 1
            tally.hitBytes += size
            policy.used(number)
            return true
        }
        guard size <= capacity else { return false }
        while tally.residentBytes + size > capacity, let victim = policy.evict() {
            tally.evictions += 1
            tally.residentBytes -= sizes.removeValue(forKey: victim) ?? 0
        }
        sizes[number] = size
        tally.residentBytes += size
        tally.residentItems = sizes.count
        policy.stored(number)
        return false
    }
}

@_spi(Simulation) @testable import PrefetchCaching

/// What came of the requests of a cache.
struct ReplayTally: Hashable {
    var requests: Int64 = 0
    var hits: Int64 = 0
    var hitBytes: Int64 = 0
    var evictions: Int64 = 0
    var residentItems = 0
    var residentBytes: Int64 = 0
}

/// A cache of exact least recent use as a textbook has it, in memory: what the real one is compared with. Without a history,
/// nothing tells items apart but their use, so that it is the model of every policy.
struct ModelCache {
    let capacity: Int64
    private(set) var tally = ReplayTally()
    private(set) var sizes: [Int: Int64] = [:]
    /// From the least recently used on.
    private var order: [Int] = []

    init(capacity: Int64) { self.capacity = capacity }

    /// - Returns: Whether it was a hit.
    @discardableResult
    mutating func request(_ number: Int, size: Int64) -> Bool {
        tally.requests += 1
        if sizes[number] != nil {
            tally.hits += 1
            tally.hitBytes += size
            order.removeAll { $0 == number }
            order.append(number)
            return true
        }
        guard size <= capacity else { return false }
        while tally.residentBytes + size > capacity, let victim = order.first {
            order.removeFirst()
            tally.evictions += 1
            tally.residentBytes -= sizes.removeValue(forKey: victim) ?? 0
        }
        sizes[number] = size
        tally.residentBytes += size
        tally.residentItems = sizes.count
        order.append(number)
        return false
    }
}

/// Requests of a cache, by what a simulation of prefetching does: a hit is a read, a miss an arrival.
struct RequestReplay {
    private let capacity: Int64
    private let simulation: PrefetchSimulation
    private var sizes: [ItemKey: Int64] = [:]
    private var counted = ReplayTally()
    private var stored = 0

    init(capacity: Int64, _ policy: EvictionPolicyChoice, in areas: StorageAreas) throws {
        self.capacity = capacity
        simulation = try PrefetchSimulation(capacity: .bytes(capacity), policy: policy, in: areas)
    }

    mutating func request(_ key: ItemKey, size: Int64) throws {
        counted.requests += 1
        if simulation.place(of: key) == .cached {
            counted.hits += 1
            counted.hitBytes += size
            try simulation.read(key, at: 0)
        } else {
            try simulation.arrive(key, source: "", size: size, at: 0)
            guard simulation.place(of: key) == .cached else { return }
            sizes[key] = size
            stored += 1
        }
    }

    private var residents: [ItemKey: Int64] { sizes.filter { simulation.place(of: $0.key) == .cached } }

    var residentKeys: Set<String> { Set(residents.keys.map(\.string)) }

    var tally: ReplayTally {
        var tally = counted
        tally.residentItems = residents.count
        tally.residentBytes = residents.values.reduce(0, +)
        tally.evictions = Int64(stored - residents.count)
        return tally
    }
}

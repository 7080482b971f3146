import ArgumentParser
@_spi(Simulation) import PrefetchCaching

/// The policies of the cache, and two of others, which only requests can be replayed with.
enum ReplayPolicy: String, CaseIterable, Encodable, ExpressibleByArgument {
    case lru, value
    /// What was stored first goes first.
    case fifo
    /// As in the paper (NSDI 2024) and in libCacheSim: a hand goes from the oldest to the newest, spares what was used since it
    /// last passed, and evicts the first that was not.
    case sieve

    /// `nil` for those of others.
    var choice: EvictionPolicyChoice? { EvictionPolicyChoice(rawValue: rawValue) }
}

/// Requests of a cache, all of which count: a hit is a use, and a miss stores what fits.
struct RequestReplay {
    /// What came of them.
    struct Result {
        var requests: Int64 = 0
        var hits: Int64 = 0
        var hitBytes: Int64 = 0
        var evictions: Int64 = 0
        var residentItems = 0
        var residentBytes: Int64 = 0
    }

    private enum Cache {
        /// The product's own code: a hit is a read there, and a miss an arrival.
        case real(PrefetchSimulation)
        case model(ModelCache)
    }

    private var cache: Cache
    private var result = Result()
    private var sizes: [ItemKey: Int64] = [:]
    private var stored = 0

    init(real simulation: PrefetchSimulation) { cache = .real(simulation) }

    init(_ model: ModelCache) { cache = .model(model) }

    mutating func request(_ key: ItemKey, size: Int64) throws {
        result.requests += 1
        let isHit = contains(key)
        if isHit {
            result.hits += 1
            result.hitBytes += size
        }
        switch cache {
        case .real(let simulation) where isHit: try simulation.read(key, at: 0)
        case .real(let simulation): try simulation.arrive(key, source: "", size: size, at: 0)
        case .model(var model):
            // Else there would be two of it, and each change would copy it.
            cache = .model(ModelCache(capacity: 0, sparesUsed: false))
            model.request(key, size: size)
            cache = .model(model)
        }
        guard !isHit, contains(key) else { return }
        sizes[key] = size
        stored += 1
    }

    private func contains(_ key: ItemKey) -> Bool {
        switch cache {
        case .real(let simulation): simulation.place(of: key) == .cached
        case .model(let model): model.contains(key)
        }
    }

    func finished() -> Result {
        let residents = sizes.filter { contains($0.key) }
        var result = result
        result.residentItems = residents.count
        result.residentBytes = residents.values.reduce(0, +)
        result.evictions = Int64(stored - residents.count)
        return result
    }
}

/// FIFO or SIEVE, as a textbook has it: a queue from the oldest to the newest, in memory.
struct ModelCache {
    private struct Place {
        let size: Int64
        var isUsed = false
        var older: ItemKey?
        var newer: ItemKey?
    }

    private let capacity: Int64
    private let sparesUsed: Bool
    private var places: [ItemKey: Place] = [:]
    private var oldest: ItemKey?
    private var newest: ItemKey?
    private var hand: ItemKey?
    private var used: Int64 = 0

    /// - Parameter sparesUsed: SIEVE does, FIFO does not.
    init(capacity: Int64, sparesUsed: Bool) {
        self.capacity = capacity
        self.sparesUsed = sparesUsed
    }

    func contains(_ key: ItemKey) -> Bool { places[key] != nil }

    mutating func request(_ key: ItemKey, size: Int64) {
        guard !contains(key) else {
            places[key]?.isUsed = sparesUsed
            return
        }
        guard size <= capacity else { return }
        while used + size > capacity, evict() {}
        places[key] = Place(size: size, older: newest)
        if let newest { places[newest]?.newer = key } else { oldest = key }
        newest = key
        used += size
    }

    /// - Returns: Whether there was something.
    private mutating func evict() -> Bool {
        guard var victim = hand ?? oldest else { return false }
        while places[victim]?.isUsed == true {
            places[victim]?.isUsed = false
            victim = places[victim]?.newer ?? oldest ?? victim
        }
        guard let place = places.removeValue(forKey: victim) else { return false }
        hand = place.newer
        if let older = place.older { places[older]?.newer = place.newer } else { oldest = place.newer }
        if let newer = place.newer { places[newer]?.older = place.older } else { newest = place.older }
        used -= place.size
        return true
    }
}

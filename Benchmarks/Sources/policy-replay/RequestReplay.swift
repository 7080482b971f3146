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
    enum Cache {
        /// The product's own code: a hit is a read there, and a miss an arrival.
        case real(PrefetchSimulation)
        case model(ModelCache)
    }

    private let cache: Cache
    private var (requests, hits, hitBytes): (Int64, Int64, Int64) = (0, 0, 0)
    private var sizes: [ItemKey: Int64] = [:]
    private var stored = 0

    init(_ cache: Cache) { self.cache = cache }

    mutating func request(_ key: ItemKey, size: Int64) throws {
        requests += 1
        let isHit = contains(key)
        if isHit {
            hits += 1
            hitBytes += size
        }
        switch cache {
        case .real(let simulation) where isHit: try simulation.read(key, at: 0)
        case .real(let simulation): try simulation.arrive(key, source: "", size: size, at: 0)
        case .model(let model): model.request(key, size: size)
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

    func tell(_ report: inout ReplayReport) {
        let residents = sizes.filter { contains($0.key) }
        (report.hits, report.hitBytes, report.requests) = (hits, hitBytes, requests)
        report.residentItems = residents.count
        report.residentBytes = residents.values.reduce(0, +)
        report.evictions = Int64(stored - residents.count)
    }
}

/// FIFO or SIEVE, as a textbook has it: a queue from the oldest to the newest, in memory.
final class ModelCache {
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

    func request(_ key: ItemKey, size: Int64) {
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
    private func evict() -> Bool {
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

public import PrefetchItemFormat
public import PrefetchStorageAreas

/// Replays requests through the cache's own catalog and eviction code, without the files of the items, to
/// find out what a policy or a budget would have done for a recorded trace.
///
/// The simulated cache starts cold and counts every request. A hit is a use. A miss stores the item, after evicting
/// until it fits; an item larger than the capacity is not stored. An item is charged exactly its size.
///
/// ```swift
/// let simulation = try EvictionSimulation(capacity: .gibibytes(1), policy: .lru, in: areas)
/// for request in trace { try simulation.request(request.key, size: request.size) }
/// print(try simulation.result())
/// ```
///
/// All methods block: do not call them on Swift's cooperative threads when the trace is long.
@_spi(Simulation) public final class EvictionSimulation {
    /// The outcome of the requests so far.
    public struct Result: Hashable, Sendable {
        /// The number of requests.
        public var requests: Int64 = 0
        /// The number of requests that found their item.
        public var hits: Int64 = 0
        /// Bytes of the items of all hits.
        public var hitBytes: Int64 = 0
        /// The number of items that were evicted.
        public var evictions: Int64 = 0
        /// The number of items in the cache now.
        public var residentItems = 0
        /// Bytes of the items in the cache now.
        public var residentBytes: Int64 = 0
    }

    private struct Request {
        let key: ItemKey
        let size: Int64
    }

    /// The number of requests that share one transaction.
    private static let batch = 4096

    private let capacity: Int64
    private let cache: SimulatedCache
    private var pending: [Request] = []
    private var tally = Result()

    /// Creates a simulated cache.
    ///
    /// - Parameters:
    ///   - capacity: The most bytes that all items may take together.
    ///   - areas: The areas for the catalog of the simulation, in an empty folder that the caller removes
    ///     afterwards.
    /// - Throws: ``CacheError/notOurs(_:)`` and ``CacheError/fileSystem(_:)``.
    public init(capacity: ByteCount, policy: EvictionPolicyChoice, in areas: StorageAreas)
        throws(CacheError)
    {
        self.capacity = capacity.bytes
        cache = try SimulatedCache(policy: policy, in: areas)
    }

    /// Performs one request. The size of a key must not change.
    ///
    /// - Parameter size: The size of the item in bytes.
    /// - Throws: ``CacheError/database(name:message:)`` and ``CacheError/fileSystem(_:)``.
    /// - Complexity: Amortised O(log n) in the resident items.
    public func request(_ key: ItemKey, size: Int64) throws(CacheError) {
        pending.append(Request(key: key, size: size))
        if pending.count == Self.batch { try perform() }
    }

    /// Returns the outcome of all requests so far.
    ///
    /// - Throws: As ``request(_:size:)``.
    public func result() throws(CacheError) -> Result {
        try perform()
        let statistics = try cache.catalog.reading { try $0.statistics() }
        var result = tally
        result.residentItems = statistics.items
        result.residentBytes = statistics.chargedBytes
        return result
    }

    /// The keys of all items that are in the cache now.
    func residentKeys() throws(CacheError) -> Set<String> {
        try perform()
        return try cache.catalog.reading { Set(try $0.items().map(\.key.string)) }
    }

    private func perform() throws(CacheError) {
        let requests = pending
        pending.removeAll(keepingCapacity: true)
        try cache.catalog.transaction { transaction in
            var writing = try ChangeWriting(cache.catalog, to: transaction)
            for request in requests {
                tally.requests += 1
                if cache.files.contains(request.key.hash) {
                    tally.hits += 1
                    tally.hitBytes += request.size
                    cache.catalog.noteHit(request.key.hash)
                    continue
                }
                guard request.size <= capacity else { continue }
                try cache.catalog.writePending(&writing)
                let used = try transaction.itemBytes()
                _ = try cache.evictor.evict(atLeast: used + request.size - capacity, from: transaction)
                cache.files.insert(request.key.hash, length: request.size)
                cache.noteStored(
                    ItemMetadata(key: request.key, destination: .applicationSupport("item")),
                    bytes: request.size)
            }
            try cache.catalog.writePending(&writing)
            try writing.finish()
        }
        tally.evictions += Int64(cache.files.takeEvicted().count)
    }
}

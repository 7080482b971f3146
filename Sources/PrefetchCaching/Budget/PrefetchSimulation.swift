public import PrefetchItemFormat
public import PrefetchStorageAreas

/// Replays what arrived in a prefetch cache, and what the user opened, through the cache's own catalog, history, policies
/// and gate, to find out how much of what is opened would have been there.
///
/// What arrives is stored if there is room, or can be made by evicting; what is opened leaves the cache. An item is charged
/// exactly its size. Nothing is known beforehand: what a policy or the gate learns is learnt on the way.
///
/// ```swift
/// let simulation = try PrefetchSimulation(capacity: .gibibytes(1), policy: .value, usesGate: true, in: areas)
/// try simulation.arrive("episode-1", source: "daily", size: 30_000_000, at: 0)
/// try simulation.open("episode-1", at: 3_600_000)
/// print(simulation.result.hits)
/// ```
///
/// All methods block: do not call them on Swift's cooperative threads when the trace is long.
@_spi(Simulation) public final class PrefetchSimulation {
    /// The sums over the items that arrived after the warm-up. Bytes are bytes of content.
    public struct Result: Hashable, Sendable {
        /// Opens, and those that found their item.
        public var opens: Int64 = 0
        public var hits: Int64 = 0
        public var openBytes: Int64 = 0
        public var hitBytes: Int64 = 0
        /// Bytes that were downloaded: of all that arrived, except what the gate kept out.
        public var downloadedBytes: Int64 = 0
        /// Bytes of items that left before they were opened, or were refused when they had arrived.
        public var wastedBytes: Int64 = 0
    }

    private struct Item {
        let size: Int64
        let counts: Bool
    }

    private let capacity: Int64
    private let usesGate: Bool
    private let warmUp: Int64
    private let cache: SimulatedCache
    private var items: [KeyHash: Item] = [:]
    /// What came of everything so far.
    public private(set) var result = Result()

    /// Creates a simulated cache.
    ///
    /// - Parameters:
    ///   - capacity: The most bytes that all items may take together.
    ///   - usesGate: Whether what a paused source sends is not downloaded.
    ///   - warmUp: Items that arrive before this time, in milliseconds, are not counted.
    ///   - areas: The areas for the catalog of the simulation, in an empty folder that the caller removes afterwards.
    /// - Throws: ``CacheError/notOurs(_:)`` and ``CacheError/fileSystem(_:)``.
    public init(
        capacity: ByteCount, policy: EvictionPolicyChoice, usesGate: Bool = false, warmUp: Int64 = 0,
        in areas: StorageAreas
    ) throws(CacheError) {
        self.capacity = capacity.bytes
        self.usesGate = usesGate
        self.warmUp = warmUp
        cache = try SimulatedCache(policy: policy, in: areas)
    }

    /// An item is offered.
    ///
    /// - Parameters:
    ///   - size: In bytes.
    ///   - time: In milliseconds, not before that of the last event.
    /// - Throws: ``CacheError/database(name:message:)`` and ``CacheError/fileSystem(_:)``.
    public func arrive(_ key: ItemKey, source: String, size: Int64, at time: Int64) throws(CacheError) {
        cache.setTime(time)
        let item = Item(size: size, counts: time >= warmUp)
        items[key.hash] = item
        let metadata = ItemMetadata(
            key: key, source: source, destination: .applicationSupport("item"), storedAt: time, expiresAt: nil
        )
        if usesGate, cache.history.knowledge().pauses(key, from: source) {
            return try decline(metadata, size)
        }
        if item.counts { result.downloadedBytes += size }
        let isStored = try cache.catalog.transaction { transaction in
            let excess = try transaction.itemBytes() + size - capacity
            guard size <= capacity,
                try cache.evictor.makeRoom(excess, for: Newcomer(metadata), from: transaction).attainable
                    == nil
            else { return false }
            cache.files.insert(key.hash, length: size)
            cache.noteStored(metadata, bytes: size)
            return true
        }
        if isStored { return try write() }
        noteWasted(key.hash)
        try decline(metadata, size)
    }

    /// The user opens an item.
    ///
    /// - Throws: As ``arrive(_:source:size:at:)``.
    public func open(_ key: ItemKey, at time: Int64) throws(CacheError) {
        cache.setTime(time)
        let isHit = cache.files.remove(key.hash)
        if let item = items[key.hash], item.counts {
            result.opens += 1
            result.openBytes += item.size
            if isHit {
                result.hits += 1
                result.hitBytes += item.size
            }
        }
        if isHit {
            cache.catalog.noteRemoved(key.hash, because: .opened)
        } else {
            cache.catalog.noteMiss(key)
        }
        try write()
    }

    /// A newer version takes the place of an item, which is dropped.
    ///
    /// - Throws: As ``arrive(_:source:size:at:)``.
    public func replace(_ key: ItemKey, at time: Int64) throws(CacheError) {
        cache.setTime(time)
        guard cache.files.remove(key.hash) else { return }
        noteWasted(key.hash)
        cache.catalog.noteRemoved(key.hash, because: .replaced)
        try write()
    }

    private func decline(_ metadata: ItemMetadata, _ size: Int64) throws(CacheError) {
        cache.catalog.noteDeclined(Newcomer(metadata), bytes: size)
        try write()
    }

    private func write() throws(CacheError) {
        cache.files.takeEvicted().forEach(noteWasted)
        try cache.catalog.transaction { _ in }
    }

    private func noteWasted(_ hash: KeyHash) {
        if let item = items[hash], item.counts { result.wastedBytes += item.size }
    }
}

internal import Foundation
internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
public import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

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
    private let files = ImaginaryFiles()
    private let history: History
    private let catalog: Catalog
    private let evictor: Evictor
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
        let environment = CacheEnvironment.live(
            logger: Logger(label: "EvictionSimulation", factory: { _ in SwiftLogNoOpLogHandler() }))
        let folders = try CacheFolders(areas: areas, fileSystem: environment.fileSystem)
        let charge = ChargedLength(blockSize: 4096)
        let events = EventHub()
        evictor = Evictor(files: files, rules: .fixed(policy), environment: environment, events: events)
        history = History(in: nil, environment) { _ in false }
        catalog = Catalog(
            folders: folders, environment: environment,
            reconciler: ItemReconciler(
                folders: folders, environment: environment, codecs: CodecPool(parallelism: 1),
                charge: charge, quarantine: Quarantine(folders: folders, charge: charge)),
            files: files, budget: evictor, session: WriterSession(environment, folders: folders),
            events: events, history: history)
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
        let statistics = try catalog.reading { try $0.statistics() }
        var result = tally
        result.evictions = history.rows().total.evicted
        result.residentItems = statistics.items
        result.residentBytes = statistics.chargedBytes
        return result
    }

    /// The keys of all items that are in the cache now.
    func residentKeys() throws(CacheError) -> Set<String> {
        try perform()
        return try catalog.reading { Set(try $0.items().map(\.key.string)) }
    }

    private func perform() throws(CacheError) {
        let requests = pending
        pending.removeAll(keepingCapacity: true)
        try catalog.transaction { transaction in
            var writing = try ChangeWriting(catalog, to: transaction)
            for request in requests {
                tally.requests += 1
                if files.contains(request.key.hash) {
                    tally.hits += 1
                    tally.hitBytes += request.size
                    catalog.noteHit(request.key.hash)
                    continue
                }
                guard request.size <= capacity else { continue }
                try catalog.writePending(&writing)
                let used = try transaction.itemBytes()
                _ = try evictor.evict(atLeast: used + request.size - capacity, from: transaction)
                files.insert(request.key.hash, length: request.size)
                catalog.noteStored(Self.row(request), reserved: request.size)
            }
            try catalog.writePending(&writing)
            try writing.finish()
        }
    }

    private static func row(_ request: Request) -> CatalogRow {
        CatalogRow(
            ItemMetadata(key: request.key, destination: .applicationSupport("item")), encoding: .identity,
            contentBytes: request.size, storedBytes: request.size, chargedBytes: request.size)
    }
}

/// The files of a simulated cache: names and lengths without content.
final class ImaginaryFiles: CatalogedFiles {
    private let lengths = Mutex<[KeyHash: Int64]>([:])

    func contains(_ hash: KeyHash) -> Bool { lengths.withLock { $0[hash] != nil } }

    func insert(_ hash: KeyHash, length: Int64) { lengths.withLock { $0[hash] = length } }

    func remove(_ victim: Victim) throws(FileSystemError) -> Removal {
        lengths.withLock { $0.removeValue(forKey: victim.hash) } == nil ? .gone : .removed
    }

    func claim(_ victim: Victim) throws(FileSystemError) -> Claiming {
        contains(victim.hash) ? .claimed(Claim(file: nil)) : .gone
    }

    func remove(_ victim: Victim, _ claim: Claim) throws(FileSystemError) -> Removal { try remove(victim) }

    func release(_ claim: Claim) {}

    /// There are no partials in a simulation.
    func state(ofPartial hash: KeyHash) throws(FileSystemError) -> PartialFiles.State { .absent }

    func storedBytes(of hash: KeyHash) throws(FileSystemError) -> Int64? { lengths.withLock { $0[hash] } }
}

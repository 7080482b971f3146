internal import Logging
internal import PrefetchFileSystem
public import PrefetchItemFormat
public import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

/// Replays what arrived in a prefetch cache, and what the user opened, through the cache's own catalog, history, policies
/// and gate, to find out how much of what is opened would have been there.
///
/// What arrives is stored if there is room, or can be made by evicting; what is opened leaves the cache, what is read stays
/// there. Nothing is known beforehand: what a policy or the gate learns is learnt on the way.
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
        /// Opens and reads, and those that found their item.
        public var opens: Int64 = 0
        public var hits: Int64 = 0
        /// Bytes of the items that were opened or read, and of those that were there: each counts until it is found.
        public var openBytes: Int64 = 0
        public var hitBytes: Int64 = 0
        /// Bytes that were downloaded: of all that arrived, except what the gate kept out.
        public var downloadedBytes: Int64 = 0
        /// Bytes of items that left before they were opened or read, or were refused when they had arrived.
        public var wastedBytes: Int64 = 0
    }

    /// Where an item is.
    public enum Place: Sendable {
        case nowhere, cached
        /// It was opened, and is the user's file.
        case opened
    }

    /// Milliseconds since 1970.
    private final class Clock: Sendable {
        let time = Mutex(Int64(0))
    }

    private struct Item {
        let size: Int64
        let counts: Bool
        var isUsed = false
        var isOpened = false
    }

    private let capacity: Int64
    private let usesGate: Bool
    private let warmUp: Int64
    private let files = ImaginaryFiles()
    private let history: History
    let catalog: Catalog
    let evictor: Evictor
    private let clock = Clock()
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
        var environment = CacheEnvironment.live(
            logger: Logger(label: "PrefetchSimulation", factory: { _ in SwiftLogNoOpLogHandler() }))
        environment.now = { [clock] in clock.time.withLock { $0 } }
        environment.uptime = { [clock] in .milliseconds(clock.time.withLock { $0 }) }
        let folders = try CacheFolders(areas: areas, fileSystem: environment.fileSystem)
        let charge = ChargedLength(blockSize: 4096)
        let events = EventHub()
        history = History(in: nil, environment, promotedKeys: nil)
        evictor = Evictor(
            files: files, following: nil, fixed: policy, history: history, environment: environment,
            events: events)
        catalog = Catalog(
            folders: folders, environment: environment,
            reconciler: ItemReconciler(
                folders: folders, environment: environment, codecs: CodecPool(parallelism: 1),
                charge: charge, quarantine: Quarantine(folders: folders, charge: charge)),
            budget: evictor, session: WriterSession(environment, folders: folders), events: events,
            history: history)
    }

    private func setTime(_ milliseconds: Int64) { clock.time.withLock { $0 = milliseconds } }

    /// An item is offered.
    ///
    /// - Parameters:
    ///   - size: In bytes of content.
    ///   - charge: What it takes of the capacity, in bytes; `nil` for its size.
    ///   - time: In milliseconds, not before that of the last event.
    /// - Throws: ``CacheError/database(name:message:)`` and ``CacheError/fileSystem(_:)``.
    public func arrive(
        _ key: ItemKey, source: String, size: Int64, charge: Int64? = nil, at time: Int64
    ) throws(CacheError) {
        setTime(time)
        let charge = charge ?? size
        let item = Item(size: size, counts: time >= warmUp)
        items[key.hash] = item
        let metadata = ItemMetadata(
            key: key, source: source, destination: .applicationSupport("item"), storedAt: time, expiresAt: nil
        )
        if usesGate, history.knowledge().pauses(key, from: source) {
            return try decline(metadata)
        }
        if item.counts { result.downloadedBytes += size }
        let isStored = try catalog.transaction { transaction in
            let excess = try transaction.itemBytes() + charge - capacity
            guard charge <= capacity,
                try RoomForRequest(evictor, for: Newcomer(metadata), in: transaction).make(excess)
                    .attainable == nil
            else { return false }
            files.insert(key.hash, length: charge)
            // What is charged is taken for the length of the file.
            catalog.noteStored(
                CatalogRow(
                    metadata, encoding: .identity, contentBytes: size, storedBytes: charge,
                    chargedBytes: charge), reserved: charge)
            return true
        }
        if isStored { return try write() }
        noteWasted(key.hash)
        try decline(metadata)
    }

    /// The user opens an item.
    ///
    /// - Parameter count: How often, as long as it is not found: the first open that finds it makes it the user's.
    /// - Throws: As ``arrive(_:source:size:charge:at:)``.
    public func open(_ key: ItemKey, count: Int64 = 1, at time: Int64) throws(CacheError) {
        setTime(time)
        let isHit = files.remove(key.hash)
        countLookups(of: key, isHit ? 1 : count, isHit: isHit)
        if isHit {
            items[key.hash]?.isOpened = true
            catalog.noteRemoved(key.hash, because: .opened, at: nil)
        } else {
            catalog.noteMiss(key)
        }
        try write()
    }

    /// The user reads an item, which stays where it is.
    ///
    /// - Parameter count: How often.
    /// - Throws: As ``arrive(_:source:size:charge:at:)``.
    public func read(_ key: ItemKey, count: Int64 = 1, at time: Int64) throws(CacheError) {
        setTime(time)
        let isHit = files.contains(key.hash)
        countLookups(of: key, count, isHit: isHit)
        if isHit {
            catalog.noteHit(key.hash)
        } else {
            catalog.noteMiss(key)
        }
        try write()
    }

    /// Where an item is now.
    public func place(of key: ItemKey) -> Place {
        if files.contains(key.hash) { return .cached }
        return items[key.hash]?.isOpened == true ? .opened : .nowhere
    }

    /// A newer version takes the place of an item, which is dropped.
    ///
    /// - Throws: As ``arrive(_:source:size:charge:at:)``.
    public func replace(_ key: ItemKey, at time: Int64) throws(CacheError) {
        try drop(key, because: .replaced, at: time)
    }

    /// An item leaves, if it is there, for a reason that has nothing to do with the room.
    ///
    /// - Throws: As ``arrive(_:source:size:charge:at:)``.
    public func drop(_ key: ItemKey, because reason: Departure, at time: Int64) throws(CacheError) {
        setTime(time)
        guard files.remove(key.hash) else { return }
        noteWasted(key.hash)
        catalog.noteRemoved(key.hash, because: reason, at: nil)
        try write()
    }

    private func countLookups(of key: ItemKey, _ count: Int64, isHit: Bool) {
        guard let item = items[key.hash] else { return }
        if isHit { items[key.hash]?.isUsed = true }
        guard item.counts else { return }
        result.opens += count
        if isHit { result.hits += count }
        guard !item.isUsed else { return }
        result.openBytes += item.size
        if isHit { result.hitBytes += item.size }
    }

    private func decline(_ metadata: ItemMetadata) throws(CacheError) {
        catalog.noteDeclined(Newcomer(metadata))
        try write()
    }

    private func write() throws(CacheError) {
        files.takeEvicted().forEach(noteWasted)
        try catalog.transaction { _ in }
    }

    private func noteWasted(_ hash: KeyHash) {
        if let item = items[hash], item.counts, !item.isUsed { result.wastedBytes += item.size }
    }
}

/// The files of a simulated cache: names and lengths without content.
final class ImaginaryFiles: CatalogedFiles {
    private struct State: Sendable {
        var lengths: [KeyHash: Int64] = [:]
        var evicted: [KeyHash] = []
    }

    private let state = Mutex(State())

    func contains(_ hash: KeyHash) -> Bool { state.withLock { $0.lengths[hash] != nil } }

    func insert(_ hash: KeyHash, length: Int64) { state.withLock { $0.lengths[hash] = length } }

    /// - Returns: Whether it was there.
    func remove(_ hash: KeyHash) -> Bool { state.withLock { $0.lengths.removeValue(forKey: hash) } != nil }

    /// What was evicted since the last call.
    func takeEvicted() -> [KeyHash] {
        state.withLock { state in
            defer { state.evicted = [] }
            return state.evicted
        }
    }

    func willRemove(_ victims: some Sequence<Victim>) {}

    func claim(_ victim: Victim) throws(FileSystemError) -> Claiming {
        contains(victim.hash) ? .claimed(Claim(file: nil)) : .gone
    }

    func remove(_ victim: Victim, _ claim: Claim) throws(FileSystemError) -> Removal {
        state.withLock { state in
            guard state.lengths.removeValue(forKey: victim.hash) != nil else { return .gone }
            state.evicted.append(victim.hash)
            return .removed
        }
    }

    func release(_ claim: Claim) {}

    /// There are no partials in a simulation.
    func state(ofPartial hash: KeyHash) throws(FileSystemError) -> PartialFiles.State { .absent }

    func storedBytes(of hash: KeyHash) throws(FileSystemError) -> Int64? {
        state.withLock { $0.lengths[hash] }
    }
}

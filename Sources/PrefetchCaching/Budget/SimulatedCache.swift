internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

/// A cache without files and with a clock of its own: the product's catalog, history and eviction, for simulations.
final class SimulatedCache: Sendable {
    let files = ImaginaryFiles()
    let history: History
    let catalog: Catalog
    let evictor: Evictor
    private let clock: Clock

    /// Milliseconds since 1970.
    private final class Clock: Sendable {
        let time = Mutex(Int64(0))
    }

    /// - Parameter areas: The areas for the catalog, in an empty folder that the caller removes afterwards.
    init(policy: EvictionPolicyChoice, in areas: StorageAreas) throws(CacheError) {
        let clock = Clock()
        self.clock = clock
        var environment = CacheEnvironment.live(
            logger: Logger(label: "PrefetchSimulation", factory: { _ in SwiftLogNoOpLogHandler() }))
        environment.now = { clock.time.withLock { $0 } }
        environment.uptime = { .milliseconds(clock.time.withLock { $0 }) }
        let folders = try CacheFolders(areas: areas, fileSystem: environment.fileSystem)
        let charge = ChargedLength(blockSize: 4096)
        let events = EventHub()
        history = History(in: nil, environment, promotedKeys: nil)
        evictor = Evictor(
            files: files, rules: .fixed(policy), history: history, environment: environment, events: events)
        catalog = Catalog(
            folders: folders, environment: environment,
            reconciler: ItemReconciler(
                folders: folders, environment: environment, codecs: CodecPool(parallelism: 1),
                charge: charge, quarantine: Quarantine(folders: folders, charge: charge)),
            files: files, budget: evictor, session: WriterSession(environment, folders: folders),
            events: events, history: history)
    }

    func setTime(_ milliseconds: Int64) { clock.time.withLock { $0 = milliseconds } }

    /// Notes that an item was stored.
    ///
    /// - Parameter charge: `nil` for exactly its bytes. What is charged is taken for the length of its file.
    func noteStored(_ metadata: ItemMetadata, bytes: Int64, charge: Int64? = nil) {
        let charge = charge ?? bytes
        catalog.noteStored(
            CatalogRow(
                metadata, encoding: .identity, contentBytes: bytes, storedBytes: charge, chargedBytes: charge
            ),
            reserved: charge, at: nil)
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

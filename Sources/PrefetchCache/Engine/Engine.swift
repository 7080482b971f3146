internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import SystemPackage

/// The cache, synchronous and deterministic: given its environment, the same calls do the same.
///
/// All methods block and may be called from any thread that is allowed to.
final class Engine: Sendable {
    let environment: CacheEnvironment
    let folders: CacheFolders
    let codecs: CodecPool
    let charge: ChargedLength
    let session: WriterSession
    let catalog: Catalog
    let admission: Admission
    let evictor: Evictor
    let configuration: ConfigurationFile
    let quarantine: Quarantine
    let ledger: Ledger
    let promotedKeys: PromotedKeys
    let promoter: Promoter
    let locks = ItemLocks()
    let events = EventHub()

    /// Opens the cache and settles what a crash left behind. The catalog is not touched: it is opened
    /// when it is first needed.
    init(areas: StorageAreas, environment: CacheEnvironment) throws(CacheError) {
        self.environment = environment
        let fileSystem = environment.fileSystem
        let events = events
        let report: @Sendable (CacheEvent) -> Void = { events.send($0) }

        let support = try SupportFolders(areas: areas, fileSystem: fileSystem)
        folders = try CacheFolders(areas: areas, fileSystem: fileSystem)
        codecs = CodecPool(parallelism: environment.parallelism)
        let items = folders.current.items
        charge = try onFiles { () throws(FileSystemError) in
            ChargedLength(
                blockSize: try VolumeProbe(fileSystem: fileSystem).figures(of: items.descriptor).blockSize)
        }
        quarantine = Quarantine(folders: folders, charge: charge)
        session = WriterSession(environment, folders: folders)
        configuration = ConfigurationFile(in: support.root)
        evictor = Evictor(folders: folders, environment: environment, report: report)
        catalog = Catalog(
            folders: folders, environment: environment,
            census: ItemCensus(
                folders: folders, environment: environment, codecs: codecs, charge: charge,
                quarantine: quarantine),
            evictor: evictor, report: report)
        admission = Admission(catalog: catalog, evictor: evictor, configuration: configuration)
        ledger = Ledger(in: support.root, at: areas.applicationSupport.pushing(CacheLayout.root))
        promotedKeys = PromotedKeys(ledger)
        promoter = Promoter(
            environment: environment, folders: folders, support: support, ledger: ledger, catalog: catalog,
            itemLocks: locks, codecs: codecs)

        _ = try configuration.current()
        let incoming = folders.current.incoming
        try onFiles { () throws(FileSystemError) in try WriterSession.sweep(incoming) }
        try Recovery(promoter).run()
    }

    /// Changes of more items than this are written without waiting for the next regular time.
    static let backlogLimit = 512

    /// Whether so many changes wait in memory that they should be written soon.
    var hasBacklog: Bool {
        catalog.inMemory { $0.pending.entries.count >= Self.backlogLimit }
    }

    /// Whether there is anything for ``flush()`` to do.
    var hasPendingChanges: Bool {
        catalog.inMemory { !$0.pending.isEmpty }
    }

    /// Whether there is anything for ``flushAndRelinquish()`` to do.
    var hasUnfinishedBusiness: Bool {
        catalog.inMemory { !$0.pending.isEmpty || $0.allowance.free > 0 }
    }

    /// Writes to the catalog what is only in memory.
    func flush() throws(CacheError) {
        guard hasPendingChanges else { return }
        try catalog.transaction { _ in }
    }

    /// What is done when the process was busy a while ago: writes what is in memory, and gives the
    /// unused allowance back to the other processes.
    func flushAndRelinquish() throws(CacheError) {
        guard hasUnfinishedBusiness else { return }
        try admission.relinquish()
    }

    /// Writes everything, and gives up this process's share of the budget and its locks.
    func close() throws(CacheError) {
        try catalog.close()
        try ledger.close()
        session.end()
        events.finish()
    }
}

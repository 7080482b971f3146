internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import PrefetchVolumeCapacity
internal import Synchronization
internal import SystemPackage

/// The cache, synchronous and deterministic: given the same environment, the same calls have the same
/// effects.
///
/// All methods block, and may be called from any thread that may block. Whoever holds a lock takes only locks that
/// stand below it in this table, and none is recursive:
///
/// | Lock | Held for |
/// | --- | --- |
/// | `closing`, the state of an ``UnfinishedStore`` | closing; one call of a writer |
/// | ``KeyLock``, of several keys in the order of their positions | a promotion, a delivery, anything about a promoted file |
/// | ``Catalog/file``, then the catalog's queue and SQLite's own lock | opening the catalog; a transaction |
/// | `flock` of items and partials, never waited for in a transaction | leases, claims, a partial under way |
/// | ``ItemLocks``, one stripe at a time | placing or removing a file and noting it |
/// | the access of ``History`` | reading or saving what was counted |
/// | ``Record``: its turn, the folder's `flock`, the open file | a change; a read takes only the last |
/// | all other mutexes | a few instructions; in ``WriterSession`` its file, too |
final class Engine: Sendable {
    let environment: CacheEnvironment
    let folders: CacheFolders
    let codecs: CodecPool
    let charge: ChargedLength
    let session: WriterSession
    let history: History
    let catalog: Catalog
    let admission: Admission
    let evictor: Evictor
    let configuration: ConfigurationFile
    let quarantine: Quarantine
    let ledger: any PromotionLedger
    let promotedKeys: PromotedKeys
    let destinations: Destinations
    let files: PromotedFiles
    let cachedCopies: CachedCopies
    let promoter: Promoter
    /// As footers record it.
    let boot: UInt64?
    var locks: ItemLocks { catalog.locks }
    let stores = UnfinishedStores()
    let claims: FetchClaims
    let departed = DepartedItems()
    let usage = Usage()
    private let closing = UnfairMutex(())
    /// When ``maintain()`` last did everything.
    private let lastMaintenance = UnfairMutex<Duration?>(nil)
    /// Whether the system and the file system of the items tell what is in memory, as far as is known.
    let canReadWithoutWaiting: Atomic<Bool>
    let events: EventHub

    /// Opens the cache and recovers from a crash. The catalog is opened only when it is first needed.
    ///
    /// - Parameters:
    ///   - ledger: `nil` for that of the record in Application Support.
    ///   - isRecovering: Whether to recover from a crash.
    ///   - events: Those of the cache, which outlive an engine that is closed to be suspended.
    init(
        areas: StorageAreas, environment: CacheEnvironment, ledger: (any PromotionLedger)? = nil,
        isRecovering: Bool = true, events: EventHub = EventHub()
    ) throws(CacheError) {
        self.environment = environment
        self.events = events
        let fileSystem = environment.fileSystem
        // One for each kind of lock: who waits in vain for one is not in a hurry for the others.
        let patience = { [usage] in
            Patience(uptime: environment.uptime, limit: { usage.patience })
        }

        try areas.caches.pushing(CacheLayout.root).requireRoom(forDatabase: CacheLayout.catalog)
        try areas.applicationSupport.pushing(CacheLayout.root).requireRoom(forDatabase: CacheLayout.record)
        let support = try SupportFolders(areas: areas, fileSystem: fileSystem)
        folders = try CacheFolders(areas: areas, fileSystem: fileSystem, patience: patience())
        codecs = CodecPool(parallelism: environment.parallelism)
        let items = folders.current.items
        canReadWithoutWaiting = Atomic(fileSystem.tellsWhatIsInMemory(items.descriptor))
        charge = ChargedLength(blockSize: Self.blockSize(of: items, environment))
        quarantine = Quarantine(folders: folders, charge: charge)
        session = WriterSession(environment, folders: folders)
        claims = FetchClaims(environment, folders: folders)
        configuration = ConfigurationFile(in: support.root, patience())
        let cataloged = CacheFiles(
            folders: folders, session: session, parallelism: environment.parallelism)
        let watch = VolumeWatch(environment: environment, folders: folders, configuration: configuration)
        self.ledger =
            ledger
            ?? Ledger(
                record: Record(
                    in: support.root, at: areas.applicationSupport.pushing(CacheLayout.root), patience()))
        promotedKeys = PromotedKeys(self.ledger)
        history = History(in: self.ledger.database, environment, promotedKeys: promotedKeys)
        evictor = Evictor(
            files: cataloged, following: watch, history: history, environment: environment, events: events)
        catalog = Catalog(
            folders: folders, environment: environment,
            reconciler: ItemReconciler(
                folders: folders, environment: environment, codecs: codecs, charge: charge,
                quarantine: quarantine),
            budget: evictor, session: session, events: events, history: history)
        admission = Admission(catalog: catalog, evictor: evictor, watch: watch)
        destinations = Destinations(
            support: support, coordinator: environment.coordinator ?? Self.platformCoordinator)
        files = PromotedFiles(environment: environment, destinations: destinations)
        cachedCopies = CachedCopies(folders: folders, files: files, locks: catalog.locks, catalog: catalog)
        promoter = Promoter(
            environment: environment, folders: folders, files: files, copies: cachedCopies,
            ledger: self.ledger, codecs: codecs, admission: admission, patience())
        boot = Checksum.ofBoot(environment.bootIdentifier)

        protect(try configuration.current().fileProtection)
        guard isRecovering else { return }
        let dead = deadWithLists()
        sweepIncoming()
        let log = RepairLog()
        promoter.recovery.run(log, isThorough: !dead.isEmpty)
        settle(dead, log)
        warn(of: log)
    }

    private func warn(of log: RepairLog) {
        for failure in log.report.failures {
            environment.logger.warning(
                "What a crash interrupted cannot be resolved yet.",
                metadata: [
                    "area": "\(failure.location.area.name)", "path": "\(failure.location.path)",
                    "error": "\(failure.error)",
                ])
        }
    }

    /// Protects what is created from now on. The cache works without.
    func protect(_ protection: FileProtection) {
        do throws(FileSystemError) {
            try folders.protect(protection)
            try destinations.support.root.protect(protection)
        } catch {
            environment.logger.warning("The folders cannot be protected.", metadata: ["error": "\(error)"])
        }
    }

    /// Removes the files of dead writers. Files that cannot be removed stay charged, and do not prevent the cache from
    /// being opened.
    private func sweepIncoming() {
        var failures: [FileSystemError] = []
        do {
            // The catalog, which needs their lists, is opened later.
            failures = try WriterSession.sweep(folders.current.incoming).leftovers.map(\.error)
            try FetchClaims.sweep(folders.current.incoming)
        } catch {
            failures = [error]
        }
        for error in failures {
            environment.logger.warning(
                "A dead writer's files could not be removed.", metadata: ["error": "\(error)"])
        }
    }

    private func deadWithLists() -> [String] {
        do {
            return try WriterSession.deadWithList(in: folders.current.incoming)
        } catch {
            environment.logger.warning(
                "Dead writers cannot be looked for.", metadata: ["error": "\(error)"])
            return []
        }
    }

    /// Removes the cached copies of what dead writers had opened, which are outdated. Until all have gone, their lists stay.
    private func settle(_ dead: [String], _ log: RepairLog) {
        guard !dead.isEmpty else { return }
        let listed = WriterSession.intents(of: dead, in: folders.current.incoming)
        log.attempt(.incoming) { () throws(CacheError) in
            let hashes = if let listed { listed } else { Array(try ledger.hashes()) }
            var areGone = true
            for hash in hashes where try isCached(hash) {
                do throws(CacheError) {
                    areGone = try promoter.dropPromoted(hash) && areGone
                } catch {
                    log.note(error, .incoming)
                    areGone = false
                }
            }
            if areGone { catalog.inMemory { $0.settled.formUnion(dead) } }
        }
    }

    /// The volume's unit of allocation in bytes; 0 if unknown, so that reading does not depend on it.
    private static func blockSize(of folder: Directory, _ environment: CacheEnvironment) -> Int64 {
        do {
            return try environment.fileSystem.volume(of: folder.descriptor).blockSize
        } catch {
            environment.logger.warning(
                "The volume's block size is unknown.", metadata: ["error": "\(error)"])
            return 0
        }
    }

    /// `nil` where only the cache accesses iCloud Drive.
    private static var platformCoordinator: (any FileCoordinating)? {
        #if canImport(Darwin)
            SystemFileCoordinator()
        #else
            nil
        #endif
    }

    /// With more pending changes than this, the catalog is written ahead of schedule.
    static let backlogLimit = 512

    /// Whether so many changes are pending, or so little is left of the budget or of the allowance, that maintenance should
    /// run soon.
    var isUrgent: Bool { admission.wantsTrimming || hasBacklog }

    private var hasBacklog: Bool {
        catalog.inMemory { state in
            state.pending.entries.count >= Self.backlogLimit || admission.isRunningLow(state.allowance)
        }
    }

    /// Whether there is anything for ``flush()`` to do.
    var hasPendingChanges: Bool {
        history.hasUnsaved || catalog.inMemory { !$0.pending.isEmpty }
    }

    /// Whether there is anything that ``maintain()`` should do before long.
    var needsMaintenance: Bool {
        ledger.database?.needsCheckpoint == true || history.hasUnsaved
            || catalog.inMemory { !$0.pending.isEmpty || $0.allowance.free > 0 || $0.allowance.reserved > 0 }
    }

    /// Writes pending changes to the catalog.
    func flush() throws(CacheError) {
        guard hasPendingChanges else { return }
        defer { history.save() }
        try catalog.transaction { _ in }
    }

    /// As ``maintain()`` when that is due. Until then only pending changes are written, and room is made in advance, while
    /// stores go on.
    ///
    /// - Returns: Whether everything was done.
    func maintainInTurn() throws(CacheError) -> Bool {
        let now = environment.uptime()
        let isDue = lastMaintenance.withLock { $0.map { now - $0 >= FlushSchedule.delay } ?? true }
        let isUrgent = isUrgent
        let isWritten = if admission.wantsTrimming { try admission.trimAhead() } else { false }
        if !isWritten, isUrgent || catalog.inMemory({ $0.pending.entries.count > Self.backlogLimit / 16 }) {
            // While the allowance is given up, stores wait: for as little as possible.
            try admission.writeBacklog()
        }
        guard isDue || !isUrgent else {
            history.save()
            return false
        }
        try maintain()
        return !admission.wantsTrimming
    }

    /// Writes pending changes, releases the unused allowance to the other processes, and maintains the
    /// budget, the volume and the ledger.
    func maintain() throws(CacheError) {
        defer { history.save() }
        // First: it takes room that the budget must not count on.
        keepSpareRoom()
        for pressure in try admission.maintain(reclaiming: settleDead()) { events.note(pressure) }
        try ledger.database?.checkpoint()
        let now = environment.uptime()
        lastMaintenance.withLock { $0 = now }
    }

    /// - Returns: The dead writers that have left lists.
    private func settleDead() -> [String] {
        let dead = deadWithLists()
        let log = RepairLog()
        settle(dead, log)
        warn(of: log)
        return dead
    }

    /// Waits for calls under way, ends open stores, writes everything, and releases this process's share of
    /// the budget and its locks. The share is released last: until then it covers what this process has on
    /// disk.
    ///
    /// - Parameter reason: What later calls throw: ``CacheError/closed``, or ``CacheError/suspended`` if another engine
    ///   follows.
    func close(because reason: CacheError = .closed) throws(CacheError) {
        try closing.withLock { _ throws(CacheError) in
            // A concurrent second call returns only once the first has closed it.
            if usage.close(because: reason, isHasty: hasOnlyRead) { try end(reason) }
        }
    }

    /// Once something is stored, it should be possible to open it.
    private func keepSpareRoom() {
        guard session.isWriter else { return }
        do throws(FileSystemError) {
            try destinations.support.spareRoom.keep()
        } catch {
            environment.logger.debug("No room was kept for opening.", metadata: ["error": "\(error)"])
        }
    }

    /// Whether nothing is lost but figures and recency if the catalog is not written.
    private var hasOnlyRead: Bool {
        !session.isWriter && catalog.inMemory { !$0.hasWritten && $0.pending.isOnlyUse }
    }

    private func end(_ reason: CacheError) throws(CacheError) {
        var hasLeft = false
        defer {
            history.save()
            session.end(removingFile: hasLeft)
            if reason == .closed { events.finish() }
        }
        stores.close(because: reason)
        claims.close()
        keepSpareRoom()
        do {
            hasLeft = try catalog.close()
        } catch {
            try ledger.database?.close()
            throw error
        }
        try ledger.database?.close()
    }
}

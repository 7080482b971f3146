internal import Logging
internal import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

/// The file of the catalog: opened when it is first needed, rebuilt when it is unusable.
extension Catalog {
    func openedFile(isReading: Bool = false) throws -> CatalogFile {
        var identity: FileAttributes.Identity?
        return try openedFile(&identity, isReading: isReading)
    }

    /// - Parameters:
    ///   - identity: Receives the identity of the file, even if it turns out to be unusable.
    ///   - isReading: Whether to accept a file to which this process cannot be added, because the volume is full or
    ///     read-only.
    func openedFile(_ identity: inout FileAttributes.Identity?, isReading: Bool) throws -> CatalogFile {
        try file.withLock { file in
            switch file {
            case .closed: throw CacheError.closed
            case .open(let open):
                identity = open.identity
                if try isCurrent(open) && open.isInPlace(in: folders.current.root) { return open }
            case .notYet: break
            }
            _ = try folders.repair()
            let root = folders.current.root
            if root.isOnReadOnlyVolume {
                guard isReading else {
                    throw FileSystemError(
                        "write", path: FilePath(CacheLayout.catalog), errno: .readOnlyFileSystem)
                }
                return try lookedAt(in: root, &file)
            }
            let hadJournal = try CatalogFile.hasJournal(in: root)
            identity = try removingHardLinkedFiles(in: root)
            var fresh = try CatalogFile(in: root, at: rootPath, hadJournal: hadJournal, patience, history)
            identity = fresh.identity
            let rebuilt: Int?
            do {
                rebuilt = try prepare(fresh)
            } catch {
                guard isReading, CatalogFile.isAboutWriting(error), try isReadable(fresh) else { throw error }
                return fresh
            }
            fresh.generation = inMemory { $0.allowance.generation }
            file = .open(fresh)
            // Without items nothing was rebuilt: the cache is new, or was purged completely.
            if let rebuilt, rebuilt > 0 {
                history.record(UsageEvent(kind: .rebuilt(items: rebuilt)))
                events.send(.catalogRebuilt(items: rebuilt))
            }
            return fresh
        }
    }

    /// The file as it is or, if it is missing or cannot be used like that, one in memory that is filled from the items.
    private func lookedAt(in root: Directory, _ file: inout Opening) throws -> CatalogFile {
        let hadJournal = try CatalogFile.hasJournal(in: root)
        do {
            if try root.requireDatabasePlace(CacheLayout.catalog, at: rootPath) != nil {
                let found = try CatalogFile(
                    in: root, at: rootPath, hadJournal: hadJournal, isReadOnly: true, patience, history)
                if try isReadable(found) { return found }
            }
        } catch {
            guard CatalogFile.isUnusable(error) else { throw error }
            environment.logger.info(
                "The catalog is read from the items, and stays.", metadata: ["reason": "\(error)"])
        }
        var fresh = try CatalogFile(inMemoryFor: try CatalogFile.identity(in: root), history)
        _ = try prepare(fresh)
        fresh.generation = inMemory { $0.allowance.generation }
        file = .open(fresh)
        return fresh
    }

    /// Whether a file that cannot be prepared can be read as it is. Checked every time.
    private func isReadable(_ file: CatalogFile) throws -> Bool {
        try file.read { transaction in
            guard try !transaction.isMissingTables() else { return false }
            try requireUsable(transaction, hadJournal: file.hadJournal)
            return true
        }
    }

    /// Makes a file ready for use.
    ///
    /// - Returns: The number of items found, if the file had to be filled from them.
    private func prepare(_ file: CatalogFile) throws -> Int? {
        var rebuilt: Int?
        if try file.read({ try $0.isMissingTables() }) {
            // Flushed as a whole, since it has no mark yet.
            rebuilt = try file.durableTransaction { try fill($0) }
        }
        let (hasWritten, read) = try file.transaction(boot: environment.bootIdentifier) {
            try join($0, hadJournal: file.hadJournal || rebuilt != nil)
        }
        sweepLists(of: read)
        if rebuilt != nil || hasWritten { inMemory { $0.hasWritten = true } }
        return rebuilt
    }

    /// Removes the lists of dead writers that were read and settled. Only after the commit: what was done with them may have
    /// been rolled back.
    func sweepLists(of read: [String]) {
        let read = inMemory { $0.settled.intersection(read) }
        guard !read.isEmpty else { return }
        do {
            _ = try WriterSession.sweep(folders.current.incoming) { !read.contains($0) }
        } catch {
            environment.logger.debug("Lists were not removed.", metadata: ["error": "\(error)"])
        }
    }

    /// - Returns: The number of items found, or `nil` when another process was faster.
    private func fill(_ transaction: CatalogTransaction) throws -> Int? {
        guard try transaction.isMissingTables() else { return nil }
        try transaction.createTables()
        try transaction.mark(boot: environment.bootIdentifier)
        // Dead writers left partials that no row accounts for. Living writers may be spending from memory what a lost
        // file had granted them.
        let swept = try WriterSession.sweep(folders.current.incoming)
        // A partial that is being written is covered by the bound of its process, which is read after this.
        // One that is suspended or abandoned meanwhile is found by the reconciler, which comes after that.
        try reconciler.fillPartials(transaction)
        var held = try WriterSession.bounds(in: folders.current.incoming)
        // One that had its file but not yet the lock may be both.
        for leftover in swept.leftovers { held[leftover.session, default: 0] += leftover.bytes }
        for (session, bytes) in held { try transaction.addWriterIfMissing(session, holding: bytes) }
        try reenter(transaction)
        try transaction.setBlockSize(reconciler.charge.blockSize)
        transaction.changes.isRebuilding = true
        defer { transaction.changes.isRebuilding = false }
        let found = try reconciler.fill(transaction)
        try transaction.renumber()
        history.balance(with: try transaction.sources())
        return found
    }

    /// Recomputes all charges for the volume's block size. The order stays.
    func recharge(_ transaction: CatalogTransaction) throws {
        let blockSize = reconciler.charge.blockSize
        try transaction.recharge(blockSize: blockSize)
        // The charge of a partial includes that of its journal.
        try reconciler.fillPartials(transaction)
        try transaction.setBlockSize(blockSize)
    }

    /// Adds this process to a filled file.
    ///
    /// - Returns: Whether anything was written for that, and the dead writers whose lists were read.
    private func join(_ transaction: CatalogTransaction, hadJournal: Bool) throws -> (Bool, [String]) {
        try requireUsable(transaction, hadJournal: hadJournal)
        let changes = transaction.changeCount
        try reenter(transaction)
        // Only for larger blocks, after a move to another volume; smaller ones are left to a repair. Otherwise
        // processes that see one cache through different file systems would recharge it back and forth.
        if try transaction.blockSize() < reconciler.charge.blockSize { try recharge(transaction) }
        let dead = try reclaimDeadWriters(
            transaction, and: WriterSession.deadWithList(in: folders.current.incoming))
        guard transaction.changeCount > changes else { return (false, dead) }
        try CatalogFile.requireMark(transaction)
        return (true, dead)
    }

    private func requireUsable(_ transaction: CatalogTransaction, hadJournal: Bool) throws {
        let version = try transaction.version()
        guard version == CatalogSchema.version else {
            throw CatalogFile.Unusable("it has version \(version)")
        }
        guard try isTrusted(transaction) else {
            throw CatalogFile.Unusable("the machine went down while it was in use")
        }
        // Within the transaction: no other process can be creating the journal.
        if !hadJournal, try !transaction.marks().isEmpty,
            try !CatalogFile.hasJournal(in: folders.current.root)
        {
            throw CatalogFile.Unusable("it was in use, and its journal is gone")
        }
    }

    /// Enters exactly what this process holds.
    private func reenter(_ transaction: CatalogTransaction) throws {
        let isBootUnknown = environment.bootIdentifier.isEmpty
        if isBootUnknown { try session.begin { inMemory { $0.allowance.bound } } }
        try transaction.setAllowance(of: environment.session, to: inMemory { $0.allowance.reenter() })
        // This row tells others that the file can be trusted, see ``isTrusted(_:)``.
        if isBootUnknown { try transaction.addWriterIfMissing(environment.session) }
        lowerBound()
    }

    /// Whether every page of the file reached the device, or is still in the page cache of the boot that wrote it.
    private func isTrusted(_ transaction: CatalogTransaction) throws -> Bool {
        let boot = environment.bootIdentifier
        let marks = try transaction.marks()
        if marks.allSatisfy({ $0 == boot }), marks.isEmpty || !boot.isEmpty { return true }
        // If the boot is unknown: a living process with a row has trusted the file before.
        return try boot.isEmpty && transaction.writers().contains { try isAlive($0) }
    }

    /// Removes a file that was found unusable, unless it has been replaced since.
    func discard(_ unusable: FileAttributes.Identity?) throws(CacheError) {
        let root = folders.current.root
        try file.withLock { file throws(CacheError) in
            if case .open(let open) = file, open.identity == unusable { file = .notYet }
            try onFiles { () throws(FileSystemError) in
                guard let unusable, try CatalogFile.identity(in: root) == unusable else { return }
                try CatalogFile.remove(in: root)
            }
        }
    }

    /// Checks the location of the file. If the file or a side file has several hard links, removes it: its content can
    /// be rebuilt.
    private func removingHardLinkedFiles(in root: Directory) throws(FileSystemError) -> FileAttributes
        .Identity?
    {
        do {
            return try root.requireDatabasePlace(CacheLayout.catalog, at: rootPath)
        } catch {
            guard error.isHardLinked else { throw error }
            try CatalogFile.remove(in: root)
            return try root.requireDatabasePlace(CacheLayout.catalog, at: rootPath)
        }
    }

    private var rootPath: FilePath { folders.areas.caches.pushing(CacheLayout.root) }

    /// Adds rows for what dead writers stored without one, and reclaims the rest of their allowances.
    ///
    /// - Parameter listing: Dead processes that have lists, and need not have a row: they have only removed items, or died in
    ///   their first transaction, whose rollback restores the rows of the items that it has already evicted.
    /// - Returns: The dead writers.
    func reclaimDeadWriters(_ transaction: CatalogTransaction, and listing: [String] = []) throws -> [String]
    {
        let incoming = folders.current.incoming
        let entered = try transaction.writers().filter { try $0 != environment.session && !isAlive($0) }
        let others = listing.filter { !entered.contains($0) }
        let dead = entered + others
        guard !dead.isEmpty else { return [] }
        let intents = WriterSession.intents(of: dead, in: incoming)
        if entered.isEmpty, intents?.isEmpty == true { return dead }
        // Their partials were covered by the allowances reclaimed here. Partials that stay keep theirs.
        let leftovers = Set(try WriterSession.sweep(incoming).leftovers.map(\.session))
        let reclaimed = dead.filter { !leftovers.contains($0) }
        guard !reclaimed.isEmpty else { return [] }
        try reconciler.fill(transaction, only: intents)
        for session in reclaimed { try transaction.deleteWriter(session) }
        return reclaimed
    }

    private func isAlive(_ session: String) throws(FileSystemError) -> Bool {
        try WriterSession.isAlive(session, in: folders.current.incoming)
    }

    /// Removes this process from the writers, and flushes the file to the device.
    ///
    /// - Returns: Whether the process has no row any more.
    func close() throws(CacheError) -> Bool {
        // Whoever has rebuilt the catalog has entered all writers.
        let hasWritten = session.isWriter || inMemory { $0.hasWritten || !$0.pending.isEmpty }
        var hasLeft = true
        do {
            if hasWritten { hasLeft = try leave() }
        } catch {
            let isOnlyUse = !session.isWriter && inMemory { !$0.hasWritten && $0.pending.isOnlyUse }
            try closeFile(flushing: false)
            guard error.isOfUnwritableVolume || error.isBusy && isOnlyUse else { throw error }
            // Only the last uses are lost. Stored items are found when dead writers are next reclaimed.
            environment.logger.debug("The catalog was not written.", metadata: ["error": "\(error)"])
            return false
        }
        try closeFile(flushing: hasWritten)
        return hasLeft
    }

    private func leave() throws(CacheError) -> Bool {
        try transaction { transaction in
            let kept = inMemory { state in
                state.allowance.confirm(uncertain: state.allowance.giveUp())
                return state.allowance.reserved
            }
            // Held by a partial that could not be removed. The next process to reclaim dead writers removes both the
            // partial and the row.
            try transaction.setAllowance(of: environment.session, to: kept)
            return kept == 0
        }
    }

    private func closeFile(flushing: Bool) throws(CacheError) {
        let open: CatalogFile? = file.withLock { file in
            defer { file = .closed }
            if case .open(let open) = file { return open }
            return nil
        }
        do {
            if flushing { try open?.flushToDevice() }
            try open?.close()
        } catch {
            guard CatalogFile.isOutOfSpace(error) else { throw CatalogFile.wrapped(error, in: folders) }
            environment.logger.debug("The volume is too full for the catalog.")
        }
    }
}

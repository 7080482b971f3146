internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

extension Engine {
    /// Removes a cached item. Promoted files stay.
    ///
    /// - Returns: Whether it was cached. What an open has taken meanwhile was not.
    func remove(_ key: ItemKey) throws(CacheError) -> Bool {
        do {
            var isRemoved = try cachedCopies.remove(key, because: .removed)
            // Another process may have stored it in folders that were created anew.
            if !isRemoved, try folders.repair() {
                isRemoved = try cachedCopies.remove(key, because: .removed)
            }
            if isRemoved, try !promoter.isPromoted(key) {
                events.send(.removed(key))
                return true
            }
        } catch {
            // Something that is not ours is in the place of the item's folder.
            guard case .fileSystem(let reason) = error, reason.isNotRegularFile else { throw error }
        }
        catalog.noteAbsent(key.hash)
        return false
    }

    /// Evicts items, in the order of the policy, until `bytes` charged bytes were freed.
    ///
    /// - Returns: The charged bytes that were freed.
    func evict(_ bytes: Int64) throws(CacheError) -> Int64 {
        return try evicting(orNothing: 0) { () throws(CacheError) in
            try catalog.transaction(makingRoom: true) { transaction in
                try evictor.evict(atLeast: bytes, because: .request, from: transaction)
            }
        }
    }

    /// Evicts what a request selects.
    ///
    /// - Parameter isDryRun: If `true`, only reports what would be evicted.
    func evict(_ request: EvictionRequest, isDryRun: Bool) throws(CacheError) -> [EvictedFile] {
        guard !isDryRun else {
            return try catalog.reading { try evictor.evict(request, isDryRun: true, from: $0) }
        }
        return try evicting(orNothing: []) { () throws(CacheError) in
            try catalog.transaction(makingRoom: true) { transaction in
                try evictor.evict(request, isDryRun: false, from: transaction)
            }
        }
    }

    /// Runs an eviction. A full volume with nothing to evict is not an error.
    func evicting<Freed>(
        orNothing nothing: Freed, _ body: () throws(CacheError) -> Freed
    ) throws(CacheError) -> Freed {
        do {
            return try body()
        } catch {
            guard error.isOutOfSpace, try catalog.reading({ try evictor.attainable(1, in: $0) }) == 0
            else { throw error }
            return nothing
        }
    }

    /// All items that have not expired, in the order of priority and, within one priority, of use.
    func items() throws(CacheError) -> [CachedItem] {
        let now = environment.now()
        let listed = try catalog.reading { try $0.items() }.filter { $0.expiresAt ?? .max > now }
        // Another process may have opened some without having noted it in the catalog yet.
        let opened: Set<KeyHash>
        do throws(CacheError) {
            opened = try promotedKeys.all()
        } catch {
            switch error {
            // What is cached can be listed without the ledger, as it can be read.
            case .newerLedger, .database(name: "record", _): return listed
            default: throw error
            }
        }
        guard !opened.isEmpty else { return listed }
        var items: [CachedItem] = []
        items.reserveCapacity(listed.count)
        for item in listed {
            if opened.contains(item.key.hash), try !isCached(item.key.hash) { continue }
            items.append(item)
        }
        return items
    }

    func statistics() throws(CacheError) -> CacheStatistics {
        var (statistics, snapshot) = try catalog.reading { transaction in
            (try transaction.statistics(), try admission.watch.preview(transaction))
        }
        statistics.figures = history.rows().total
        statistics.budgetBytes = snapshot.budget
        statistics.pressure = snapshot.pressure
        let root = folders.current.root
        statistics.catalogBytes = try onFiles(
            environment.fileSystem.attributes(of: FilePath(CacheLayout.catalog), in: root.descriptor)?.length
                ?? 0)
        return statistics
    }

    /// What was counted, including what a killed process had not noted, and what the system has purged.
    func historyRows() throws(CacheError) -> HistoryRows {
        try catalog.reading { _ in }
        history.save()
        return history.rows()
    }

    /// What happened after `position`, including what this process has just noted.
    func journal(after position: JournalPosition?) throws(CacheError) -> Journal {
        try catalog.reading { _ in }
        history.save()
        return try history.journal(after: position)
    }

    func capacity(available: Int64? = nil) throws(CacheError) -> CapacityReport {
        try catalog.reading { transaction in
            try CapacityReport(try admission.watch.preview(transaction, available: available), transaction)
        }
    }

    /// Replaces the configuration, and evicts down to a smaller budget at once.
    func configure(_ configuration: CacheConfiguration) throws(CacheError) {
        try self.configuration.replace(with: configuration)
        protect(configuration.fileProtection)
        trimToBudget()
    }

    /// Changes the configuration in force, and evicts down to a smaller budget at once.
    ///
    /// - Returns: The new configuration.
    func configure(changing change: (inout CacheConfiguration) -> Void) throws(CacheError)
        -> CacheConfiguration
    {
        let new = try configuration.change(change)
        protect(new.fileProtection)
        trimToBudget()
        return new
    }

    /// The new configuration is already in force, so a failure here does not fail the call.
    private func trimToBudget() {
        do {
            try admission.trimToBudget()
        } catch {
            // The next maintenance trims the cache instead.
            environment.logger.error(
                "The configuration is in force, but the cache was not trimmed to it yet.",
                metadata: ["error": "\(error)"])
        }
    }
}

/// Overviews of the cache as a whole.
extension Engine {
    /// The space that the items of each source take, ordered by charged bytes, largest first.
    func sources() throws(CacheError) -> [SourceUsage] {
        try catalog.reading { try $0.sources() }
    }

    func partials() throws(CacheError) -> [PartialItem] {
        let cached = try catalog.reading { try $0.partials() }
        let staged = try onFiles { () throws(FileSystemError) in
            var items: [PartialItem] = []
            for place in try stagedPartials() {
                if let item = try listed(place) { items.append(item) }
            }
            return items
        }
        return cached + staged.sorted { $0.keptAt < $1.keptAt }
    }

    /// - Returns: `nil` for one that is being written, or cannot be resumed.
    private func listed(_ place: StagedPartial) throws(FileSystemError) -> PartialItem? {
        let now = environment.now()
        guard case .possible(let partial, let storedBytes, let keptAt)? = try place.resumability(now: now),
            let file = try place.lock()
        else { return nil }
        environment.fileSystem.unlock(file)
        let item = partial.metadata
        return PartialItem(
            key: item.key, source: item.source, intent: item.intent, destination: item.destination,
            contentBytes: partial.contentBytes, storedBytes: storedBytes, chargedBytes: 0, keptAt: keptAt,
            expiresAt: PartialItem.expiry(keptAt: keptAt, now: now, of: item))
    }

    /// The promoted files in the order of opening, which is not that of the ledger.
    func promotedFiles() throws(CacheError) -> [PromotedFile] {
        var files: [PromotedFile] = []
        try ledger.forEachCommitted { entry in
            files.append(presentFile(of: entry) ?? destinations.promotedFile(entry, presentBytes: nil))
        }
        files.sort { $0.openedAt < $1.openedAt }
        return files
    }

    /// An overview must not fail because of one file.
    private func presentFile(of entry: LedgerEntry) -> PromotedFile? {
        do {
            return try files.existingFile(of: entry)
        } catch {
            environment.logger.debug("A file cannot be inspected.", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

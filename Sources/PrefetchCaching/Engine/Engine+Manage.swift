internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

extension Engine {
    /// Hands an item over at its first open, and returns its file.
    ///
    /// When a write fails although the volume showed room for it, as under a quota, other items make way and
    /// the open is tried again. Like one after a crash, it goes on where the attempt ended.
    func open(_ key: ItemKey, for watcher: OpenWatcher = .never) throws(CacheError) -> Lookup<PromotedFile> {
        // Leased from the first shortage on, since the item itself must not make way.
        var item: Descriptor?
        defer { if let item { environment.fileSystem.close(item) } }
        let lookup = try admission.makingWay {
            () throws(CacheError) in
            if item == nil { item = try folders.openItem(key.hash) }
            guard let item else { return nil }
            return try promoter.stager.bytesToOpen(key, item)
        } _: { () throws(CacheError) in
            try promoter.open(key, for: watcher)
        }
        return try noted(lookup, of: key)
    }

    /// Hands several items over, sharing the flushes of those at their first open.
    ///
    /// - Returns: The result for each key, in the order of the keys.
    func open(
        _ keys: [ItemKey], for watcher: OpenWatcher = .never
    ) -> [Result<Lookup<PromotedFile>, CacheError>] {
        stride(from: 0, to: keys.count, by: Promotion.most).flatMap { start in
            let keys = Array(keys[start..<min(start + Promotion.most, keys.count)])
            return zip(keys, promoter.openTogether(keys, for: watcher)).map { key, outcome in
                Result { () throws(CacheError) in
                    switch outcome {
                    case .ended(let result): return try noted(try result.get(), of: key)
                    case .again(let lease):
                        defer { if let lease { environment.fileSystem.close(lease) } }
                        return try open(key, for: watcher)
                    }
                }
            }
        }
    }

    private func noted(_ lookup: Lookup<PromotedFile>, of key: ItemKey)
        throws(CacheError) -> Lookup<PromotedFile>
    {
        switch lookup {
        case .hit(let opened):
            guard opened.isFirstOpen else { break }
            catalog.notePromoted(key.hash)
            events.send(.promoted(key, opened.location))
        case .miss(.damaged(let error)):
            _ = try missed(key, error)
        case .miss(.purged):
            _ = try missed(key, .purged)
        case .miss(.newerFormat(let version)):
            _ = try missed(key, .newerVersion(version))
        case .miss(.expired):
            _ = try expired(key)
        case .miss(.absent):
            catalog.noteMiss(key.hash)
        }
        return lookup
    }

    /// Removes a cached item. Promoted files stay.
    ///
    /// - Returns: Whether it was cached.
    func remove(_ key: ItemKey) throws(CacheError) -> Bool {
        let items = folders.current.items
        return try locks.hold(key.hash) { () throws(CacheError) in
            let file = CacheLayout.file(of: key.hash)
            do throws(FileSystemError) {
                let attributes = try environment.fileSystem.attributes(of: file, in: items.descriptor)
                if attributes?.kind == .regular {
                    try environment.fileSystem.unlink(file, in: items.descriptor)
                    catalog.noteRemoved(key.hash)
                    events.send(.removed(key))
                    return true
                }
            } catch {
                guard error.isNotFound || error.isNotRegularFile else { throw .fileSystem(error) }
            }
            catalog.noteAbsent(key.hash)
            return false
        }
    }

    /// Drops the record of a promotion. The file stays.
    ///
    /// - Returns: Whether there was a record.
    func forget(_ key: ItemKey) throws(CacheError) -> Bool {
        let wasKnown = try promoter.forget(key) { entry, file throws(CacheError) in
            guard
                let destination = Destination(
                    area: entry.area, name: entry.plainName, in: entry.folder, backup: entry.backup)
            else { return }
            try takeBack(
                file, entry.contentBytes, as: ItemMetadata(key: entry.key, destination: destination))
        }
        if wasKnown { events.send(.forgotten(key)) }
        return wasKnown
    }

    /// Removes the file of a promotion, and its record.
    ///
    /// - Returns: Whether a file was removed.
    func deletePromotedFile(_ key: ItemKey) throws(CacheError) -> Bool {
        let (wasKnown, isDeleted) = try promoter.deleteFile(of: key)
        if wasKnown { events.send(.forgotten(key)) }
        return isDeleted
    }

    /// Evicts items until `bytes` of charged length were freed, as the policy chooses.
    ///
    /// - Returns: The charged bytes that were freed.
    func evict(_ bytes: Int64) throws(CacheError) -> Int64 {
        return try evicting(orNothing: 0) { () throws(CacheError) in
            try catalog.transaction(makingRoom: true) { transaction in
                try evictor.evict(atLeast: bytes, from: transaction)
            }
        }
    }

    /// Evicts what a request selects.
    ///
    /// - Parameter isDryRun: If `true`, only reports what would be evicted.
    func evict(_ request: EvictionRequest, isDryRun: Bool) throws(CacheError) -> [EvictedFile] {
        return try evicting(orNothing: []) { () throws(CacheError) in
            try catalog.transaction(makingRoom: !isDryRun) { transaction in
                isDryRun
                    ? try evictor.preview(request, in: transaction)
                    : try evictor.evict(request, from: transaction)
            }
        }
    }

    /// Runs an eviction. On a full volume with nothing to evict, there is nothing to write either.
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

    /// All items in the order of priority and, within one priority, of use.
    func items() throws(CacheError) -> [CachedItem] {
        let listed = try catalog.reading { try $0.items() }
        // Another process may have opened some without having written that to the catalog.
        let opened = try promotedKeys.all()
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
        statistics.budgetBytes = snapshot.budget
        statistics.pressure = snapshot.pressure
        let root = folders.current.root
        statistics.catalogBytes = try onFiles { () throws(FileSystemError) in
            try environment.fileSystem.attributes(
                of: FilePath(CacheLayout.catalog), in: root.descriptor)?.length ?? 0
        }
        return statistics
    }

    func capacity() throws(CacheError) -> CapacityReport {
        try catalog.reading { transaction in
            let snapshot = try admission.watch.preview(transaction)
            return CapacityReport(
                capacity: snapshot.capacity, pressure: snapshot.pressure,
                configuredBudget: snapshot.configuration.budget, budgetBytes: snapshot.budget,
                ceilingBytes: snapshot.ceiling, largestItemBytes: min(snapshot.largestItem, snapshot.ceiling),
                chargedBytes: try transaction.itemBytes(),
                heldBytes: try transaction.heldBytes(),
                catalogBytes: try transaction.catalogBytes(),
                refusal: BudgetSnapshot.refusal(snapshot.configuration, snapshot.pressure))
        }
    }

    /// Replaces the configuration, and evicts down to a smaller budget at once.
    func configure(_ configuration: CacheConfiguration) throws(CacheError) {
        try self.configuration.replace(with: configuration)
        trimToBudget()
    }

    /// Changes the configuration in force, and evicts down to a smaller budget at once.
    ///
    /// - Returns: The new configuration.
    func configure(changing change: (inout CacheConfiguration) -> Void) throws(CacheError)
        -> CacheConfiguration
    {
        let new = try configuration.change(change)
        trimToBudget()
        return new
    }

    /// The new configuration is in force already, so a failure here is not one of the call.
    private func trimToBudget() {
        do {
            try admission.trimToBudget()
        } catch {
            // The next maintenance trims the cache instead.
            environment.logger.error(
                "The configuration holds, and the cache was not trimmed to it yet.",
                metadata: ["error": "\(error)"])
        }
    }
}

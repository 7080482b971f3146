internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas

extension Engine {
    /// Promotes an item at its first open, and returns its file.
    ///
    /// When a write fails although the volume reported room for it, as under a quota, other items are evicted and the
    /// open is retried; at last with the room that is kept for that. As after a crash, it resumes where the attempt ended.
    func open(_ key: ItemKey, for watcher: OpenWatcher = .never) throws(CacheError) -> Lookup<PromotedFile> {
        // Leased from the first shortage on, so that the item itself is not evicted.
        var item: Descriptor?
        defer { if let item { environment.fileSystem.close(item) } }
        func open() throws(CacheError) -> Lookup<PromotedFile> {
            try admission.retryingAfterEviction {
                () throws(CacheError) in
                if item == nil { item = try folders.openItem(key.hash) }
                guard let item else { return nil }
                return try promoter.stager.bytesToOpen(key, item)
            } _: { () throws(CacheError) in
                try promoter.open(key, for: watcher)
            }
        }
        let lookup: Lookup<PromotedFile>
        do throws(CacheError) {
            lookup = try open()
        } catch {
            guard error.isOutOfSpace, try onFiles(destinations.support.spareRoom.giveUp()) else {
                throw error
            }
            lookup = try open()
        }
        return try noted(lookup, of: key)
    }

    /// Opens several items, sharing the flushes of those at their first open.
    ///
    /// - Returns: The result for each key, in the order of the keys.
    func open(
        _ keys: [ItemKey], for watcher: OpenWatcher = .never
    ) -> [Result<Lookup<PromotedFile>, CacheError>] {
        stride(from: 0, to: keys.count, by: Promotion.most).flatMap { start in
            let keys = Array(keys[start..<min(start + Promotion.most, keys.count)])
            return zip(keys, promoter.openTogether(keys, for: watcher)).map { key, outcome in
                switch outcome {
                case .ended(let result): return noted(result, of: key)
                case .again(let lease):
                    defer { if let lease { environment.fileSystem.close(lease) } }
                    return Result { () throws(CacheError) in try open(key, for: watcher) }
                        .mapError(usage.reported)
                }
            }
        }
    }

    /// Opens items at their first open, sharing the flushes, as far as that is quick and waits for no other process.
    ///
    /// - Parameter keys: At most ``Promotion/most``.
    /// - Returns: The result for each key, in the order of the keys; `nil` for one that has to be opened alone.
    func openQuickly(_ keys: [ItemKey], for watcher: OpenWatcher)
        -> [Result<Lookup<PromotedFile>, CacheError>?]
    {
        zip(keys, promoter.openWithoutWaiting(keys, for: watcher)).map { key, outcome in
            quickResult(outcome, of: key)
        }
    }

    private func quickResult(_ outcome: Promotion.Outcome, of key: ItemKey)
        -> Result<Lookup<PromotedFile>, CacheError>?
    {
        switch outcome {
        case .again(let lease):
            if let lease { environment.fileSystem.close(lease) }
            return nil
        case .ended(let ended):
            let result = noted(ended, of: key)
            switch result {
            // Opened alone, it is tried again, waits until the cache is resumed, or evicts others.
            case .failure(.overtaken), .failure(.suspended): return nil
            case .failure(let error) where error.isOutOfSpace: return nil
            default: return result
            }
        }
    }

    private func noted(_ result: Result<Lookup<PromotedFile>, CacheError>, of key: ItemKey)
        -> Result<Lookup<PromotedFile>, CacheError>
    {
        Result { () throws(CacheError) in try noted(try result.get(), of: key) }.mapError(usage.reported)
    }

    private func noted(_ lookup: Lookup<PromotedFile>, of key: ItemKey)
        throws(CacheError) -> Lookup<PromotedFile>
    {
        switch lookup {
        case .hit(let opened): noteOpen(opened)
        case .miss(.damaged), .miss(.purged), .miss(.newerFormat), .miss(.expired):
            // Read once more, from the file that has the name now: meanwhile a sound one may have replaced it.
            do {
                _ = try stream(key, nil, isUse: false, fromCacheOnly: true) { _ in }
            } catch {
                // It stays a miss. Whoever reads it next is told.
                environment.logger.debug(
                    "An item could not be read again.", metadata: ["key": "\(key)", "error": "\(error)"])
            }
            catalog.inMemory { $0.pending.missed(key) }
        case .miss(.absent):
            catalog.noteMiss(key)
        }
        return lookup
    }

    /// Drops the record of a promotion. The file stays.
    ///
    /// - Returns: Whether there was a record.
    func forget(_ key: ItemKey) throws(CacheError) -> Bool {
        let wasKnown = try promoter.forget(key) { entry, read throws(CacheError) in
            guard
                let destination = Destination(
                    area: entry.area, name: entry.plainName, in: entry.folder, backup: entry.backup)
            else { return }
            let provenance = entry.provenance
            let metadata = ItemMetadata(
                key: entry.key, source: provenance?.source ?? "", destination: destination,
                validator: provenance?.validator ?? Validator(), attributes: provenance?.attributes ?? [],
                url: provenance?.url, parts: entry.parts)
            try restoreToCache(metadata, entry.contentBytes, read)
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
}

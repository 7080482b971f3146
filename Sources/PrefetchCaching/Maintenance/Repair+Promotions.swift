internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Interrupted promotions, and the files in staging.
extension Repair {
    func resolvePromotions() throws(CacheError) {
        for intent in try engine.ledger.intents() {
            let place = engine.destinations.location(of: intent)
            attempt(place) { () throws(CacheError) in
                // A held lock means that a living process is working on it.
                try engine.promoter.locks.holdIfFree(intent.key.hash) { () throws(CacheError) in
                    try resolve(intent, place)
                }
            }
        }
        for (folder, location) in try stagingFolders() {
            let entries = try onFiles(fileSystem.entries(of: folder.descriptor))
            for entry in entries {
                if let hash = CacheLayout.hash(ofAside: entry.name),
                    let place = AreaPath(
                        area: location.area, relative: location.relative.appending(entry.name))
                {
                    attempt(place) { () throws(CacheError) in
                        try engine.promoter.locks.holdIfFree(hash) { () throws(CacheError) in
                            try putBack(FilePath(root: nil, [entry.name]), hash, in: folder, place)
                        }
                    }
                    continue
                }
                guard let hash = CacheLayout.hash(ofStaged: entry.name),
                    let place = AreaPath(
                        area: location.area, relative: location.relative.appending(entry.name))
                else { continue }
                attempt(place) { () throws(CacheError) in
                    try engine.promoter.locks.holdIfFree(hash) { () throws(CacheError) in
                        try removeUnclaimed(FilePath(root: nil, [entry.name]), hash, in: folder, place)
                    }
                }
            }
        }
    }

    /// Moves back a file that a purge moved aside before its process died. The caller holds the lock of its key.
    private func putBack(_ name: FilePath, _ hash: KeyHash, in folder: Directory, _ place: AreaPath)
        throws(CacheError)
    {
        guard try engine.files.attributes(of: name, in: folder) != nil,
            let entry = try engine.ledger.entry(for: hash)
        else { return }
        if !isDryRun { try engine.promoter.recovery.leftovers.putBack(name, hash, from: folder) }
        note(.promotionResolved, place, key: entry.key, "moved back, as it was not purged")
    }

    private func resolve(_ intent: LedgerEntry, _ place: AreaPath) throws(CacheError) {
        guard try engine.ledger.entry(for: intent.key) == intent else { return }
        guard !isDryRun else { return note(.promotionResolved, place, key: intent.key) }
        try engine.promoter.recovery.complete(intent)
        let entry = try engine.ledger.entry(for: intent.key)
        let resolved = entry.map { engine.destinations.location(of: $0) } ?? place
        note(.promotionResolved, resolved, key: intent.key, entry == nil ? "taken back" : "completed")
    }

    /// The staging folders, each with its location. The usual one comes first.
    private func stagingFolders() throws(CacheError) -> [(Directory, AreaPath)] {
        let folders = try onFiles(engine.destinations.support.stagingFolders())
        return folders.compactMap { folder in
            if folder === engine.destinations.support.staging {
                return (folder, .ours(CacheLayout.staging, in: .applicationSupport))
            }
            return AreaPath(area: .documents, relative: CacheLayout.foreignStaging).map { (folder, $0) }
        }
    }

    /// The caller holds the lock of the file's key.
    private func removeUnclaimed(_ name: FilePath, _ hash: KeyHash, in folder: Directory, _ place: AreaPath)
        throws(CacheError)
    {
        let isClaimed = try engine.ledger.intents().contains { $0.stagedName == name.string }
        guard !isClaimed, try isAbandoned(name, in: folder) else { return }
        if !isDryRun {
            try engine.promoter.recovery.leftovers.discardLeftover(name, hash, in: folder)
            guard try engine.files.attributes(of: name, in: folder) == nil else { return }
        }
        note(.stagedFileRemoved, place)
    }

    /// Whether a staged file is no longer being written. The file of an item that goes straight to its
    /// destination is itself locked.
    private func isAbandoned(_ name: FilePath, in folder: Directory) throws(CacheError) -> Bool {
        do throws(FileSystemError) {
            let file = try fileSystem.open(name, in: folder.descriptor, .read)
            defer { fileSystem.unlock(file) }
            guard try fileSystem.attributes(of: file).kind == .regular else { return false }
            return try fileSystem.lock(file, waiting: false)
        } catch {
            if error.isNotFound || error.isNotRegularFile { return false }
            guard error.isUnsupported else { throw .fileSystem(error) }
            return true
        }
    }

    /// Restores lost backup marks. A file that was there before, or that the user has changed or replaced, is the
    /// user's own and belongs in backups.
    func renewMarks() throws(CacheError) {
        for (folder, location) in try stagingFolders() {
            attempt(location) { () throws(CacheError) in
                try renewMark(of: folder.descriptor, at: location, key: nil)
            }
        }
        try engine.ledger.forEachCommitted { entry throws(CacheError) in
            guard entry.backup == .exclude, entry.origin != .adopted else { return }
            let place = engine.destinations.location(of: entry)
            attempt(place) { () throws(CacheError) in
                try engine.promoter.locks.holdIfFree(entry.key.hash) { () throws(CacheError) in
                    try renewMark(of: entry, at: place)
                }
            }
        }
    }

    private func renewMark(of entry: LedgerEntry, at place: AreaPath) throws(CacheError) {
        guard let folder = try engine.destinations.existingFolder(of: entry) else { return }
        let file: Descriptor
        do {
            file = try fileSystem.open(entry.name.path, in: folder.descriptor, .readWithoutAccessTime)
        } catch {
            guard error.isNotFound || error.isNotRegularFile else {
                throw .destination(engine.destinations.path(of: entry), error)
            }
            return
        }
        defer { fileSystem.close(file) }
        let attributes = try engine.files.attributes(of: file)
        guard attributes.kind == .regular, attributes.length == entry.contentBytes,
            try !isMarked(file), try isOurs(file, entry)
        else { return }
        try renewMark(of: file, at: place, key: entry.key)
    }

    private func isMarked(_ file: Descriptor) throws(CacheError) -> Bool {
        try onFiles(BackupMark(fileSystem: fileSystem).policy(of: file) == .exclude)
    }

    private func isOurs(_ file: Descriptor, _ entry: LedgerEntry) throws(CacheError) -> Bool {
        try onFiles { () throws(FileSystemError) in
            guard try engine.files.isOurs(file, by: entry) else { return false }
            return try fileSystem.contentChecksum(of: file) == entry.contentChecksum
        }
    }

    private func renewMark(of file: Descriptor, at place: AreaPath, key: ItemKey?) throws(CacheError) {
        guard try !isMarked(file) else { return }
        if !isDryRun {
            let isMarked = try onFiles { () throws(FileSystemError) in
                guard try engine.files.mark(file, .exclude) else { return false }
                try fileSystem.synchronize(file)
                return true
            }
            // The file system does not support the mark.
            guard isMarked else { return }
        }
        note(.markRestored, place, key: key)
    }
}

internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// What dead processes left in staging folders: files without an intent, parts of items that the user asked for, and files
/// of the user's that were moved aside.
struct Leftovers: Sendable {
    let files: PromotedFiles
    let ledger: any PromotionLedger
    let locks: KeyLock

    private var fileSystem: any FileSystem { files.environment.fileSystem }
    private var destinations: Destinations { files.destinations }

    /// A file in a staging folder.
    struct Staged {
        let hash: KeyHash
        let name: FilePath.Component
        let folder: Directory
        let location: AreaPath
        let role: Role

        enum Role {
            case content
            /// The journal of a ``StagedPartial``.
            case journal
            /// A file of the user's that was moved aside.
            case aside
        }

        var path: FilePath { FilePath(root: nil, [name]) }
    }

    /// Removes leftovers from a staging folder that is unknown when the cache is opened: one below a mount point inside
    /// an area. Costs one listing.
    ///
    /// - Parameter held: The keys whose locks the caller holds. Nothing is staged for them yet.
    func sweep(_ staging: Directory, holding held: [KeyHash] = []) throws(CacheError) {
        for file in try onFiles(stagedFiles(in: staging)) {
            if held.contains(file.hash) {
                try resolve(file, RepairLog())
            } else {
                try locks.holdIfFree(file.hash) { () throws(CacheError) in try resolve(file, RepairLog()) }
            }
        }
    }

    /// Moves back what a dead process had moved aside for a key, whose lock the caller holds.
    ///
    /// - Returns: Whether there was anything.
    func putBack(_ hash: KeyHash) throws(CacheError) -> Bool {
        var isFound = false
        for folder in try onFiles(destinations.support.stagingFolders()) {
            for file in try onFiles(stagedFiles(in: folder)) where file.role == .aside && file.hash == hash {
                try putBack(file)
                isFound = true
            }
        }
        return isFound
    }

    func stagedFiles(in folder: Directory) throws(FileSystemError) -> [Staged] {
        let folderLocation = location(of: folder)
        return try fileSystem.entries(of: folder.descriptor).compactMap { entry in
            let aside = CacheLayout.hash(ofAside: entry.name)
            let journal = CacheLayout.stagedName(ofJournal: entry.name).flatMap(CacheLayout.hash(ofStaged:))
            guard let hash = aside ?? journal ?? CacheLayout.hash(ofStaged: entry.name),
                let location = AreaPath(
                    area: folderLocation.area, relative: folderLocation.relative.appending(entry.name))
            else { return nil }
            return Staged(
                hash: hash, name: entry.name, folder: folder, location: location,
                role: aside != nil ? .aside : journal != nil ? .journal : .content)
        }
    }

    /// The location of a staging folder. Only the usual one is not in Documents.
    func location(of folder: Directory) -> AreaPath {
        if folder === destinations.support.staging { return .staging }
        return AreaPath(area: .documents, relative: CacheLayout.foreignStaging) ?? .staging
    }

    /// Moves a file of the user's back, and removes one that belongs to no promotion, unless it can be resumed. The caller
    /// holds the lock of the file's key.
    func resolve(_ file: Staged, _ log: RepairLog) throws(CacheError) {
        switch file.role {
        case .aside:
            guard try files.attributes(of: file.path, in: file.folder) != nil,
                let entry = try ledger.entry(for: file.hash)
            else { return }
            if !log.isDryRun { try putBack(file) }
            log.note(.promotionResolved, file.location, key: entry.key, "moved back, as it was not purged")
        case .content:
            let isClaimed = try ledger.unfinished().contains { entry in
                entry.stagedName == file.name.string || entry.successor?.stagedName == file.name.string
            }
            let partial = StagedPartial(staging: file.folder, name: file.path, hash: file.hash)
            guard !isClaimed, try !keeps(partial, isDryRun: log.isDryRun),
                try discard(file, isDryRun: log.isDryRun)
            else { return }
            if !log.isDryRun { try files.discard(partial.journalName, in: file.folder) }
            log.note(.stagedFileRemoved, file.location)
        case .journal:
            guard let name = CacheLayout.stagedName(ofJournal: file.name),
                try files.attributes(of: FilePath(root: nil, [name]), in: file.folder) == nil,
                try discard(file, isDryRun: log.isDryRun)
            else { return }
            log.note(.stagedFileRemoved, file.location)
        }
    }

    /// Whether a staged file that nobody is writing can be resumed, and its item was not opened since. Returns to the volume
    /// what was allocated for the rest.
    private func keeps(_ partial: StagedPartial, isDryRun: Bool) throws(CacheError) -> Bool {
        let now = files.environment.now()
        guard try files.attributes(of: partial.journalName, in: partial.staging) != nil,
            let file = try onFiles(partial.lock())
        else { return false }
        defer { fileSystem.unlock(file) }
        switch try onFiles(partial.resumability(now: now)) {
        case .newer?: return true
        case .possible(_, let storedBytes, let keptAt)?:
            if let entry = try ledger.entry(for: partial.hash), entry.openedAt > keptAt { return false }
            if !isDryRun { try onFiles(fileSystem.resize(file, to: storedBytes)) }
            return true
        case .impossible?, nil: return false
        }
    }

    /// Removes a staged file, unless it is still being written. The file of an item that goes straight to its
    /// destination is staged for as long as it is downloaded; the file itself is locked, not its key.
    ///
    /// An empty one may mark a file that was moved back but not flushed, see ``PromotedFiles/putBack(_:as:from:in:)``.
    ///
    /// - Returns: Whether it was removed or, in a dry run, would be.
    private func discard(_ file: Staged, isDryRun: Bool) throws(CacheError) -> Bool {
        let fileSystem = fileSystem
        guard let found = try files.attributes(of: file.path, in: file.folder) else { return false }
        if found.kind == .directory {
            // Of a bundle, and written under the lock of the key.
            if isDryRun { return true }
            // It may have had another name, which must not come back when files are gone.
            try onFiles(fileSystem.synchronize(file.folder.descriptor))
            return try files.discardStaged(file.path, in: file.folder)
        }
        guard found.kind == .regular else { return false }
        if !isDryRun, found.length == 0, let entry = try ledger.entry(for: file.hash) {
            try destinations.coordinated(.write, entry) { () throws(CacheError) in
                guard let folder = try destinations.existingFolder(of: entry) else { return }
                try destinations.onDestination(
                    entry, fileSystem.synchronizeMove(from: file.folder, to: folder))
            }
        }
        do {
            return try fileSystem.withFile(file.path, in: file.folder.descriptor, .read) {
                opened throws(FileSystemError) in
                guard try fileSystem.lock(opened, waiting: false) else { return false }
                // Unlinked under the lock: a process that is about to lock it will see that it is gone.
                if !isDryRun { try fileSystem.unlink(file.path, in: file.folder.descriptor) }
                return true
            }
        } catch {
            if error.isNotFound || error.isNotRegularFile { return false }
            guard error.isUnsupported else { throw .fileSystem(error) }
            return isDryRun ? true : try files.discard(file.path, in: file.folder)
        }
    }

    /// Restores the name of a file that a dead process moved aside. Without the entry the name is unknown, and the file
    /// stays where it is.
    private func putBack(_ file: Staged) throws(CacheError) {
        guard var entry = try ledger.entry(for: file.hash),
            let folder = try destinations.existingFolder(of: entry),
            let name = try destinations.onDestination(
                entry, files.removal.putBack(file.path, as: entry.name, from: file.folder, in: folder))
        else { return }
        entry.name = name
        files.environment.logger.notice(
            "A file that was about to be purged was moved back.",
            metadata: ["path": "\(destinations.path(of: entry))"])
    }
}

internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// What dead processes left in staging folders: files without an intent, and files of the user's that were moved aside.
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
        /// Whether it is a file of the user's that was moved aside.
        let isAside: Bool
    }

    /// Removes leftovers from a staging folder that is unknown when the cache is opened: one below a mount point inside
    /// an area. Costs one listing.
    ///
    /// - Parameter held: The keys whose locks the caller holds. Nothing is staged for them yet.
    func sweep(_ staging: Directory, holding held: [KeyHash] = []) throws(CacheError) {
        let staged = try onFiles(stagedFiles(in: staging))
        for file in staged {
            if held.contains(where: { CacheLayout.keyLock(of: $0) == CacheLayout.keyLock(of: file.hash) }) {
                try discardUnclaimed(file)
                continue
            }
            try locks.holdIfFree(file.hash) { () throws(CacheError) in
                try discardUnclaimed(file)
            }
        }
    }

    /// Moves back what a dead process had moved aside for a key, whose lock the caller holds.
    ///
    /// - Returns: Whether there was anything.
    func putBack(_ hash: KeyHash) throws(CacheError) -> Bool {
        var isFound = false
        for folder in try onFiles(destinations.support.stagingFolders()) {
            let staged = try onFiles(stagedFiles(in: folder))
            for file in staged where file.isAside && file.hash == hash {
                try putBack(FilePath(root: nil, [file.name]), hash, from: folder)
                isFound = true
            }
        }
        return isFound
    }

    func stagedFiles(in folder: Directory) throws(FileSystemError) -> [Staged] {
        try fileSystem.entries(of: folder.descriptor).compactMap { entry in
            if let hash = CacheLayout.hash(ofAside: entry.name) {
                return Staged(hash: hash, name: entry.name, folder: folder, isAside: true)
            }
            return CacheLayout.hash(ofStaged: entry.name).map {
                Staged(hash: $0, name: entry.name, folder: folder, isAside: false)
            }
        }
    }

    /// The caller holds the lock of the file's key.
    func discardUnclaimed(_ file: Staged) throws(CacheError) {
        if file.isAside {
            return try putBack(FilePath(root: nil, [file.name]), file.hash, from: file.folder)
        }
        let isClaimed = try ledger.intents().contains { $0.stagedName == file.name.string }
        if !isClaimed { try discardLeftover(FilePath(root: nil, [file.name]), file.hash, in: file.folder) }
    }

    /// Removes a staged file, unless it is still being written. The file of an item that goes straight to its
    /// destination is staged for as long as it is downloaded; the file itself is locked, not its key.
    ///
    /// An empty one may mark a file that was moved back but not flushed, see ``PromotedFiles/putBack(_:as:from:in:)``.
    func discardLeftover(_ name: FilePath, _ hash: KeyHash, in staging: Directory) throws(CacheError) {
        let fileSystem = fileSystem
        if try files.attributes(of: name, in: staging)?.length == 0, let entry = try ledger.entry(for: hash) {
            try destinations.coordinated(.write, entry) { () throws(CacheError) in
                guard let folder = try destinations.existingFolder(of: entry) else { return }
                try destinations.onDestination(entry, fileSystem.synchronize(folder.descriptor))
            }
        }
        do {
            try fileSystem.withFile(name, in: staging.descriptor, .read) { file throws(FileSystemError) in
                // Unlinked under the lock: a process that is about to lock it will see that it is gone.
                if try fileSystem.lock(file, waiting: false) {
                    try fileSystem.unlink(name, in: staging.descriptor)
                }
            }
        } catch {
            guard !error.isNotFound else { return }
            guard error.isUnsupported || error.isNotRegularFile else { throw .fileSystem(error) }
            try files.discard(name, in: staging)
        }
    }

    /// Restores the name of a file that a dead process moved aside. Without the entry the name is unknown, and the file
    /// stays where it is. The caller holds the lock of the key.
    func putBack(_ aside: FilePath, _ hash: KeyHash, from staging: Directory) throws(CacheError) {
        guard var entry = try ledger.entry(for: hash),
            let folder = try destinations.existingFolder(of: entry),
            let name = try destinations.onDestination(
                entry, files.putBack(aside, as: entry.name, from: staging, in: folder))
        else { return }
        entry.name = name
        files.environment.logger.notice(
            "A file that was about to be purged was moved back.",
            metadata: ["path": "\(destinations.path(of: entry))"])
    }
}

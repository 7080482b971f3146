internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// Puts a newer version in the place of a promoted file, or of the folder of a bundle, that its user has not changed.
///
/// The two exchange their names in one step, so that there is always one of them, complete and durable. Before that, the
/// ledger has an entry of the older version with the newer one as its successor; it is read as before, and opened only when
/// that is completed. Afterwards the older version is in staging, where it is looked at once more: the user may have changed
/// it at the last moment. Only when both names are durable is the newer version committed, and the older one removed.
struct Replacement: Sendable {
    let files: PromotedFiles
    let ledger: any PromotionLedger

    private var destinations: Destinations { files.destinations }
    private var fileSystem: any FileSystem { files.environment.fileSystem }

    /// Replaces the file of a promotion. The caller holds the lock of the key.
    ///
    /// - Parameters:
    ///   - new: The intent of the newer version, which is complete and durable in `staging`, and stays there if it is not
    ///     used.
    ///   - isShared: Whether another key was promoted to a file.
    /// - Returns: `nil` when the older version is not what was promoted, or cannot be told to be, and stays.
    func replace(
        _ old: LedgerEntry, by new: LedgerEntry, in staging: Directory,
        unless isShared: (FileAttributes.Identity) throws(CacheError) -> Bool
    ) throws(CacheError) -> LedgerEntry? {
        guard old.area == new.area, old.folder == new.folder,
            let folder = try destinations.existingFolder(of: old),
            let file = try files.openWithoutAccessTime(old, in: folder)
        else { return nil }
        defer { fileSystem.close(file) }
        let bundle = old.parts.isEmpty ? nil : BundleFolder(file, old.parts, fileSystem)
        let found = try files.attributes(of: file)
        let photograph = try onFiles(bundle?.photograph()) ?? []
        guard try destinations.onDestination(old, files.judge.isUntouched(file, of: old)),
            try !isShared(found.identity)
        else { return nil }

        var pending = old
        pending.successor = Successor(new)
        try ledger.put(pending, replacing: old)
        let name = FilePath(new.stagedName)
        return try destinations.coordinated(.publish, old) { () throws(CacheError) in
            let isUnchanged: Bool
            do throws(FileSystemError) {
                try exchange(old, name, in: staging, folder)
                isUnchanged =
                    if let bundle {
                        try files.removal.isStill(bundle, photograph, at: name, in: staging)
                    } else {
                        try files.removal.isStill(file, found, at: name, in: staging)
                    }
                if !isUnchanged { try putBack(pending, name, from: staging, in: folder) }
            } catch {
                // Otherwise recovery finds out what was exchanged.
                if try files.attributes(of: name, in: staging)?.identity.inode == new.inode {
                    try ledger.put(old, replacing: pending)
                }
                if error.isNotFound { return nil }
                throw .destination(destinations.path(of: old), error)
            }
            guard isUnchanged else {
                try ledger.put(old, replacing: pending)
                return nil
            }
            return try finish(pending, from: staging, in: folder)
        }
    }

    /// Completes or undoes a replacement that a crash interrupted. The caller holds the lock of the key.
    ///
    /// | under the name | in staging | done |
    /// |---|---|---|
    /// | the newer version | the older one, or nothing | committed; an older version that its user has changed gets the next name |
    /// | anything else | the newer version | it is removed, and the older one stays |
    /// | nothing | a folder | that gets the name: a volume that was checked after a power cut may have dropped it |
    /// | anything else | the older version | that is removed, unless its user has changed it |
    /// | anything else | nothing | its name is flushed: a process may have died after giving it |
    ///
    /// - Returns: The promotion as it is now.
    func complete(_ pending: LedgerEntry) throws(CacheError) -> LedgerEntry? {
        guard let successor = pending.successor else { return pending }
        var old = pending
        old.successor = nil
        guard let folder = try destinations.existingFolder(of: old) else {
            try ledger.put(old, replacing: pending)
            return old
        }
        let name = FilePath(successor.stagedName)
        let usual = try destinations.stagingFolder(for: folder, old.area, old.folder)
        let (staging, staged) = try files.staged(name, in: usual) ?? (usual, nil)
        return try destinations.coordinated(.publish, old) { () throws(CacheError) in
            if staged?.kind == .directory, try files.attributes(of: old, in: folder) == nil {
                try destinations.onDestination(old) { () throws(FileSystemError) in
                    try fileSystem.rename(
                        name, in: staging.descriptor, to: old.name.path, in: folder.descriptor, .exclusive)
                    try fileSystem.synchronizeMove(from: staging, to: folder)
                }
                return try complete(pending)
            }
            let present = try files.attributes(of: old, in: folder)
            let new = try onItem(successor.entry(after: old))
            if try isNew(new, present, in: folder) {
                if staged != nil, staged?.identity != present?.identity, try !isOld(old, name, in: staging) {
                    _ = try destinations.onDestination(
                        old, files.removal.putBack(name, as: old.name, from: staging, in: folder))
                }
                return try finish(pending, from: staging, in: folder)
            }
            if let staged, staged.identity.inode != successor.inode, staged.identity != present?.identity,
                try !isOld(old, name, in: staging)
            {
                _ = try destinations.onDestination(
                    old, files.removal.putBack(name, as: old.name, from: staging, in: folder))
            } else {
                // After a power cut, the older version must not be back in staging, from where a process that has died since
                // may have moved it, nor a newer folder be under the name, and lack files.
                try destinations.onDestination(
                    old, fileSystem.synchronizeMove(from: staging, to: folder))
                if staged != nil { try files.discardStaged(name, in: staging) }
            }
            try ledger.put(old, replacing: pending)
            return old
        }
    }

    /// Makes both names durable, commits the newer version, and removes the older one.
    private func finish(_ pending: LedgerEntry, from staging: Directory, in folder: Directory)
        throws(CacheError) -> LedgerEntry
    {
        guard let successor = pending.successor else { return pending }
        var new = try onItem(successor.entry(after: pending))
        new.state = .committed
        try files.renewMark(of: new, in: folder)
        try destinations.onDestination(new) { () throws(FileSystemError) in
            try fileSystem.synchronizeMove(from: staging, to: folder)
        }
        try ledger.put(new, replacing: pending)
        try files.discardStaged(FilePath(successor.stagedName), in: staging)
        return new
    }

    private func exchange(_ old: LedgerEntry, _ name: FilePath, in staging: Directory, _ folder: Directory)
        throws(FileSystemError)
    {
        try fileSystem.rename(
            name, in: staging.descriptor, to: old.name.path, in: folder.descriptor, .exchanging)
    }

    /// Gives the older version, which its user has changed, its name back; the next free one if the user has put another file
    /// there in between. The newer version is removed.
    private func putBack(
        _ pending: LedgerEntry, _ name: FilePath, from staging: Directory, in folder: Directory
    )
        throws(FileSystemError)
    {
        let inode = pending.successor?.inode
        if try fileSystem.inode(of: pending.name.path, in: folder.descriptor) == inode {
            try exchange(pending, name, in: staging, folder)
            if try fileSystem.inode(of: name, in: staging.descriptor) == inode {
                try fileSystem.synchronizeMove(from: staging, to: folder)
                return try fileSystem.removeStaged(name, in: staging.descriptor)
            }
            // Saved between the two calls.
            try exchange(pending, name, in: staging, folder)
        }
        _ = try files.removal.putBack(name, as: pending.name, from: staging, in: folder)
    }

    /// Whether the newer version has the name.
    private func isNew(_ new: LedgerEntry, _ present: FileAttributes?, in folder: Directory)
        throws(CacheError) -> Bool
    {
        guard let present, present.identity.inode == new.inode, present.kind == new.kind,
            let file = try files.openWithoutAccessTime(new, in: folder)
        else { return false }
        defer { fileSystem.close(file) }
        return try destinations.onDestination(new, files.judge.isRecorded(file, by: new))
    }

    /// Whether what is in staging has the content of the older version.
    private func isOld(_ old: LedgerEntry, _ name: FilePath, in staging: Directory) throws(CacheError) -> Bool
    {
        try onFiles { () throws(FileSystemError) in
            guard try files.checksum(of: name, in: staging, old) == old.contentChecksum else { return false }
            if old.parts.isEmpty { return true }
            return try BundleFolder(name, in: staging, old.parts)?.photograph() != nil
        }
    }
}

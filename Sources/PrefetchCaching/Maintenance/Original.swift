internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// A file to migrate, which is open and which other programs may be using.
struct Original {
    let name: FilePath
    let folder: Directory
    let key: ItemKey
    let destination: Destination
    let file: Descriptor
    /// Its attributes when it was opened.
    let attributes: FileAttributes
    let files: PromotedFiles

    private var fileSystem: any FileSystem { folder.fileSystem }

    /// Excludes other migrations from the file: a second one would rewrite the item after the first has flushed it, find
    /// the file gone, and remove the item.
    ///
    /// - Returns: Whether this succeeded, and the file is unchanged: another migration may have just finished with it.
    func lock() throws(CacheError) -> Bool {
        guard try onFiles(fileSystem.lockIfSupported(file)) else { return false }
        return try isUnchanged()
    }

    /// Whether the file still has its name, is unchanged since it was opened, and is not being written.
    func isUnchanged() throws(CacheError) -> Bool {
        guard try onFiles(fileSystem.isBeingWritten(file)) != true else { return false }
        return try files.attributes(of: name, in: folder)?.isUnchanged(since: attributes) ?? false
    }

    func checksum() throws(CacheError) -> UInt64 {
        try onFiles(fileSystem.contentChecksum(of: file))
    }

    /// Whether the file already has its new name: removing the old one would then remove it.
    func isInPlace(as other: FileName, in place: Directory) throws(CacheError) -> Bool {
        guard try files.attributes(of: other.path, in: place)?.identity == attributes.identity else {
            return false
        }
        // The same file by another path, or another hard link to it, which may be removed.
        guard attributes.linkCount > 1 else { return true }
        let folders = (
            try files.attributes(of: folder.descriptor).identity,
            try files.attributes(of: place.descriptor).identity
        )
        return folders.0 == folders.1 && name == other.path
    }

    /// Gives the file its new name.
    ///
    /// - Throws: `ESTALE` for a file that is gone, or was replaced since it was opened.
    func move(to entry: LedgerEntry, in place: Directory) throws(CacheError) -> Publisher.Placing {
        do {
            try fileSystem.rename(
                name, in: folder.descriptor, to: entry.name.path, in: place.descriptor, .exclusive)
        } catch {
            if error.isNotFound { throw stale(entry) }
            if error.isRefusedName { return .isRefused(error) }
            guard error.errno == .fileExists else {
                throw .destination(files.destinations.path(of: entry), error)
            }
            return .isTaken
        }
        guard try files.attributes(of: entry, in: place)?.identity == attributes.identity else {
            // This is a different file, and is moved back.
            try files.destinations.onDestination(
                entry,
                fileSystem.rename(
                    entry.name.path, in: place.descriptor, to: name, in: folder.descriptor, .exclusive))
            throw stale(entry)
        }
        return .isInPlace
    }

    private func stale(_ entry: LedgerEntry) -> CacheError {
        .destination(
            files.destinations.path(of: entry),
            FileSystemError("rename", path: name, errno: .staleNFSFileHandle))
    }

    /// Removes the file, whose content is durable elsewhere, unless it was changed meanwhile.
    ///
    /// - Returns: Whether it was removed.
    func drop() throws(CacheError) -> Bool {
        let name = destination.name
        return try onFiles { () throws(FileSystemError) in
            let removal = try files.removal.remove(
                file, attributes, name, in: folder, by: files.nextAsideName(name), in: folder)
            guard case .removed = removal else { return false }
            try fileSystem.synchronize(folder.descriptor)
            return true
        }
    }
}

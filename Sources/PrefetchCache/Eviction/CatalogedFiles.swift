internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// The files that the catalog speaks of.
protocol CatalogedFiles: Sendable {
    /// Removes the file of a victim.
    func remove(_ victim: Victim) throws(FileSystemError) -> Removal

    /// The length of an item's file in bytes, or `nil` when there is none.
    func storedLength(of hash: KeyHash) throws(FileSystemError) -> Int64?
}

enum Removal: Sendable {
    case removed
    /// There was no such file, or something that is not ours lies in its place.
    case gone
    /// Somebody reads it, opens it or has pinned it.
    case leased
}

/// The files in `items/` and in the quarantine. One on which somebody holds a lease is not removed.
///
/// A lease is the shared `flock` of an item's file, see ``CacheFolders/openItem(_:)``: it dies with
/// its process, and costs whoever reads an item one call and no record of it.
struct CacheFiles: CatalogedFiles {
    let folders: CacheFolders

    func remove(_ victim: Victim) throws(FileSystemError) -> Removal {
        let fileSystem = folders.fileSystem
        let (path, folder) = place(of: victim)
        let file: Descriptor
        do {
            file = try fileSystem.open(path, in: folder, .read)
        } catch {
            guard error.isNotFound || error.isNoRegularFile else { throw error }
            return .gone
        }
        defer { fileSystem.close(file) }
        do {
            guard try fileSystem.lock(file, .exclusive, waiting: false) else { return .leased }
        } catch {
            // Where there are no locks there are no leases.
            guard error.isUnsupported else { throw error }
        }
        do {
            try fileSystem.unlink(path, in: folder)
            return .removed
        } catch {
            guard error.isNotFound || error.isNoRegularFile else { throw error }
            return .gone
        }
    }

    func storedLength(of hash: KeyHash) throws(FileSystemError) -> Int64? {
        try folders.fileSystem.attributes(
            of: CacheLayout.file(of: hash), in: folders.current.items.descriptor)?.length
    }

    private func place(of victim: Victim) -> (FilePath, Descriptor) {
        let handles = folders.current
        return switch victim.kind {
        case .quarantined:
            (CacheLayout.quarantine.appending(victim.hash.hexadecimal), handles.root.descriptor)
        default: (CacheLayout.file(of: victim.hash), handles.items.descriptor)
        }
    }
}

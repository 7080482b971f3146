internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// Removes the file of a victim.
protocol VictimRemoving: Sendable {
    func remove(_ victim: Victim) throws(FileSystemError) -> Removal
}

enum Removal: Sendable {
    case removed
    /// There was no such file, or something that is not ours lies in its place.
    case gone
    /// Somebody reads it, opens it or has pinned it.
    case leased
}

/// Removes files from `items/` and from the quarantine, unless somebody holds a lease.
///
/// A lease is the shared `flock` of an item's file, see ``CacheFolders/openItem(_:)``: it dies with
/// its process, and costs whoever reads an item one call and no record of it.
struct VictimFiles: VictimRemoving {
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

    private func place(of victim: Victim) -> (FilePath, Descriptor) {
        let handles = folders.current
        return switch victim.kind {
        case .quarantined:
            (CacheLayout.quarantine.appending(victim.hash.hexadecimal), handles.root.descriptor)
        default: (CacheLayout.file(of: victim.hash), handles.items.descriptor)
        }
    }
}

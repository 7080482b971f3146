internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// The files that the catalog speaks of.
protocol CatalogedFiles: Sendable {
    /// Removes the file of a victim.
    func remove(_ victim: Victim) throws(FileSystemError) -> Removal

    /// Sees to it that nobody takes a lease on a victim until the claim is released.
    func claim(_ victim: Victim) throws(FileSystemError) -> Claiming

    /// Removes the file of a victim that was claimed. The claim is still to be released.
    func remove(_ victim: Victim, _ claim: Claim) throws(FileSystemError) -> Removal

    func release(_ claim: Claim)

    /// The length of an item's file in bytes, or `nil` when there is none.
    func storedLength(of hash: KeyHash) throws(FileSystemError) -> Int64?

    /// What there is of a partial.
    ///
    /// - Parameter hash: That of its row.
    func standing(ofPartial hash: KeyHash) throws(FileSystemError) -> PartialFiles.Standing
}

enum Removal: Sendable {
    case removed
    /// There was no such file, or something that is not ours lies in its place.
    case gone
    /// Somebody reads it, opens it or has pinned it.
    case leased
}

/// What became of the wish to claim a victim.
enum Claiming: Sendable {
    case claimed(Claim)
    case gone, leased
}

/// The opposite of a lease: whoever wants to read the file waits until it is removed or released.
struct Claim: Sendable {
    /// Holds the exclusive `flock`; `nil` where there is no file that can be opened.
    let file: Descriptor?
}

/// The files in `items/` and in the quarantine, and kept partials. One on which somebody holds a lease is not
/// removed.
///
/// A lease is the shared `flock` of an item's file, see ``CacheFolders/openItem(_:)``: it dies with
/// its process, and costs whoever reads an item one call and no record of it.
struct CacheFiles: CatalogedFiles {
    let folders: CacheFolders

    private var fileSystem: any FileSystem { folders.fileSystem }

    func remove(_ victim: Victim) throws(FileSystemError) -> Removal {
        switch try claim(victim) {
        case .gone: return .gone
        case .leased: return .leased
        case .claimed(let claim):
            defer { release(claim) }
            return try unlink(victim)
        }
    }

    func claim(_ victim: Victim) throws(FileSystemError) -> Claiming {
        if victim.kind == .partial { return try claimPartial(victim.hash.ofPartial) }
        let (path, folder) = place(of: victim)
        let file: Descriptor
        do {
            file = try fileSystem.open(path, in: folder, .read)
        } catch {
            // Whom the file does not let in cannot hold a lease on it, either.
            if error.errno == .permissionDenied { return .claimed(Claim(file: nil)) }
            guard error.isNotFound || error.isNoRegularFile else { throw error }
            return .gone
        }
        do {
            // A pipe or a folder can be opened, and is not ours.
            guard try fileSystem.attributes(of: file).kind == .regular else {
                fileSystem.close(file)
                return .gone
            }
            if try fileSystem.lock(file, .exclusive, waiting: false) { return .claimed(Claim(file: file)) }
            fileSystem.close(file)
            return .leased
        } catch {
            // Where there are no locks there are no leases.
            if error.isUnsupported { return .claimed(Claim(file: file)) }
            fileSystem.close(file)
            throw error
        }
    }

    func remove(_ victim: Victim, _ claim: Claim) throws(FileSystemError) -> Removal {
        // A claim may be old: what was stored in the place of the file meanwhile is not what was claimed.
        if let file = claim.file, try fileSystem.attributes(of: file).linkCount == 0 { return .gone }
        return try unlink(victim)
    }

    func release(_ claim: Claim) {
        if let file = claim.file { fileSystem.unlock(file) }
    }

    /// The lock of a partial is that of its journal, without which its chunks are of no use: nobody takes
    /// them.
    private func claimPartial(_ hash: KeyHash) throws(FileSystemError) -> Claiming {
        switch try partials.lock(hash) {
        case .locked(let journal): return .claimed(Claim(file: journal))
        case .busy: return .leased
        case .absent:
            guard try partials.lengthOfChunks(hash) != nil else { return .gone }
            switch try partials.lock(hash, creating: true) {
            case .locked(let journal): return .claimed(Claim(file: journal))
            case .busy: return .leased
            case .absent: return .gone
            }
        }
    }

    private func unlink(_ victim: Victim) throws(FileSystemError) -> Removal {
        if victim.kind == .partial {
            try partials.unlink(victim.hash.ofPartial)
            return .removed
        }
        let (path, folder) = place(of: victim)
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

    func standing(ofPartial hash: KeyHash) throws(FileSystemError) -> PartialFiles.Standing {
        try partials.standing(of: hash.ofPartial)
    }

    private var partials: PartialFiles { PartialFiles(incoming: folders.current.incoming) }

    private func place(of victim: Victim) -> (FilePath, Descriptor) {
        let handles = folders.current
        return switch victim.kind {
        case .quarantined:
            (CacheLayout.quarantine.appending(victim.hash.hexadecimal), handles.root.descriptor)
        default: (CacheLayout.file(of: victim.hash), handles.items.descriptor)
        }
    }
}

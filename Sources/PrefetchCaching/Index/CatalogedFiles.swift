internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The files that the catalog lists.
protocol CatalogedFiles: Sendable {
    /// Lists victims that the transaction under way is about to remove, or some of them, see ``WriteIntents``.
    func willRemove(_ victims: some Sequence<Victim>)

    /// Removes the files of victims, which are listed for that where it matters.
    ///
    /// - Returns: What became of each, in their order.
    func remove(_ victims: [Victim]) -> [Result<Removal, FileSystemError>]

    /// Prevents leases of a victim until the claim is released.
    func claim(_ victim: Victim) throws(FileSystemError) -> Claiming

    /// Removes the file of a claimed victim. The claim still has to be released.
    func remove(_ victim: Victim, _ claim: Claim) throws(FileSystemError) -> Removal

    func release(_ claim: Claim)

    /// The length of an item's file in bytes, or `nil` when there is none.
    func storedBytes(of hash: KeyHash) throws(FileSystemError) -> Int64?

    /// The state of a partial on disk.
    ///
    /// - Parameter hash: The hash of its row.
    func state(ofPartial hash: KeyHash) throws(FileSystemError) -> PartialFiles.State
}

extension CatalogedFiles {
    /// Claims and removes the file of a victim.
    func removal(of victim: Victim) -> Result<Removal, FileSystemError> {
        Result { () throws(FileSystemError) in
            switch try claim(victim) {
            case .gone: return .gone
            case .leased: return .leased
            case .claimed(let claim):
                defer { release(claim) }
                return try remove(victim, claim)
            }
        }
    }

    func remove(_ victims: [Victim]) -> [Result<Removal, FileSystemError>] { victims.map(removal) }
}

enum Removal: Sendable {
    case removed
    /// There was no such file, or something that is not ours has its name.
    case gone
    /// It is being read or opened, or is pinned.
    case leased
}

/// The result of claiming a victim.
enum Claiming: Sendable {
    case claimed(Claim)
    case gone, leased
}

/// Excludes leases: a reader that opens the file meanwhile gets none.
struct Claim: Sendable {
    /// Holds the exclusive `flock`; `nil` where no file can be opened.
    let file: Descriptor?
}

/// The files of items, quarantined items and kept partials. A file that is leased is not removed.
///
/// A lease is the shared `flock` of an item's file, see ``CacheFolders/openItem(_:)``. It ends with its process, and
/// costs a reader one system call and no bookkeeping.
struct CacheFiles: CatalogedFiles {
    let folders: CacheFolders
    let session: WriterSession
    /// How many threads remove files.
    let parallelism: Int

    private var fileSystem: any FileSystem { folders.fileSystem }

    func willRemove(_ victims: some Sequence<Victim>) {
        session.intend(toEvict: victims.map(\.hashOfItem))
    }

    func remove(_ victims: [Victim]) -> [Result<Removal, FileSystemError>] {
        willRemove(victims)
        // On two threads it takes half as long, since the names are in 256 folders.
        let share = max(1, (victims.count - 1) / max(1, parallelism) + 1)
        let shares = stride(from: 0, to: victims.count, by: share).map { victims[$0...].prefix(share) }
        return inParallel(shares.count) { shares[$0].map(removal) }.flatMap { $0 }
    }

    func claim(_ victim: Victim) throws(FileSystemError) -> Claiming {
        if victim.kind == .partial { return try claimPartial(victim.hash.ofPartial) }
        let (path, folder) = place(of: victim)
        var isOurs = true
        do {
            let file = try fileSystem.open(path, in: folder, .read) { file throws(FileSystemError) in
                // Pipes and folders can be opened, but are not ours.
                isOurs = try fileSystem.attributes(of: file).kind == .regular
                return try isOurs ? fileSystem.lockIfSupported(file) : false
            }
            if let file { return .claimed(Claim(file: file)) }
            return isOurs ? .leased : .gone
        } catch {
            // Without permission to read a file, no process can hold a lease on it.
            if error.errno == .permissionDenied { return .claimed(Claim(file: nil)) }
            guard error.isNotFound || error.isNotRegularFile else { throw error }
            return .gone
        }
    }

    func remove(_ victim: Victim, _ claim: Claim) throws(FileSystemError) -> Removal {
        // A claim may be old: a file that replaced the claimed one meanwhile was not claimed.
        if let file = claim.file, try fileSystem.attributes(of: file).linkCount == 0 { return .gone }
        if victim.kind == .partial {
            try partials.unlink(victim.hash.ofPartial)
            return .removed
        }
        let (path, folder) = place(of: victim)
        return try fileSystem.unlinkIfPresent(path, in: folder) ? .removed : .gone
    }

    func release(_ claim: Claim) {
        if let file = claim.file { fileSystem.unlock(file) }
    }

    /// The lock of a partial is that of its journal. Chunks without a journal are useless, so they are never
    /// leased.
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

    func storedBytes(of hash: KeyHash) throws(FileSystemError) -> Int64? {
        try folders.fileSystem.attributes(
            of: CacheLayout.file(of: hash), in: folders.current.items.descriptor)?.length
    }

    func state(ofPartial hash: KeyHash) throws(FileSystemError) -> PartialFiles.State {
        try partials.state(of: hash.ofPartial)
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

internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The whole chunks of an item that the user asked for, on the volume of its destination: a staged file and, next to it,
/// the journal that lists them. Whoever writes or removes them holds the `flock` of the staged file.
struct StagedPartial: Sendable {
    let staging: Directory
    /// The name of the staged file.
    let name: FilePath
    let hash: KeyHash

    private var fileSystem: any FileSystem { staging.fileSystem }
    var journalName: FilePath { CacheLayout.journal(ofStaged: name) }

    /// The partials in a staging folder, and what belongs to the journals there.
    ///
    /// - Parameter hash: `nil` for those of all keys.
    static func all(in staging: Directory, of hash: KeyHash? = nil) throws(FileSystemError) -> [StagedPartial]
    {
        try staging.fileSystem.entries(of: staging.descriptor).compactMap { entry in
            guard let staged = CacheLayout.stagedName(ofJournal: entry.name),
                let found = CacheLayout.hash(ofStaged: staged), found == hash ?? found
            else { return nil }
            return StagedPartial(staging: staging, name: FilePath(root: nil, [staged]), hash: found)
        }
    }

    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: `nil` without a journal.
    func resumability(now: Int64) throws(FileSystemError) -> Resumability? {
        guard let journal = try open(journalName, .read) else { return nil }
        defer { fileSystem.close(journal) }
        let chunks = try fileSystem.attributes(of: name, in: staging.descriptor)
        return try Resumability(
            journal, of: hash, chunksLength: chunks?.kind == .regular ? chunks?.length ?? 0 : 0, now: now,
            in: fileSystem)
    }

    /// Opens and locks the staged file, without waiting.
    ///
    /// - Returns: `nil` when it is being written, is gone, or the file system has no locks.
    func lock() throws(FileSystemError) -> Descriptor? {
        do {
            guard case .locked(let file) = try LockFile.lock(name, in: staging) else { return nil }
            return file
        } catch {
            guard error.isHardLinked else { throw error }
            return nil
        }
    }

    /// Opens the journal of a partial whose lock is held.
    ///
    /// - Returns: `nil` when it cannot be used.
    func openJournal() throws(FileSystemError) -> (file: Descriptor, content: PartialJournal)? {
        guard let file = try open(journalName, .readWrite) else { return nil }
        do throws(ItemFormatError) {
            return (file, try PartialJournal(of: file, in: fileSystem))
        } catch {
            fileSystem.close(file)
            if case .fileSystem(let error) = error { throw error }
            return nil
        }
    }

    private func open(_ name: FilePath, _ mode: OpenMode) throws(FileSystemError) -> Descriptor? {
        do {
            return try fileSystem.open(name, in: staging.descriptor, mode) { file throws(FileSystemError) in
                try fileSystem.attributes(of: file).kind == .regular
            }
        } catch {
            guard error.isUnavailable else { throw error }
            return nil
        }
    }

    /// Removes the partial, unless it is being written.
    func remove() throws(FileSystemError) {
        let file = try lock()
        defer { if let file { fileSystem.unlock(file) } }
        if file == nil {
            // A journal whose file is gone is locked by nobody.
            guard try fileSystem.attributes(of: name, in: staging.descriptor) == nil else { return }
        }
        for name in [name, journalName] {
            do {
                try fileSystem.unlink(name, in: staging.descriptor)
            } catch {
                guard error.isUnavailable else { throw error }
            }
        }
    }
}

extension FileSystemError {
    /// Whether there is nothing under a name that this package could have left there.
    fileprivate var isUnavailable: Bool { isNotFound || isNotRegularFile || isHardLinked }
}

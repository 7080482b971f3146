internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// A file as it was when it was opened.
struct OpenOriginal {
    let file: Descriptor
    let attributes: FileAttributes
}

/// The files to migrate, which other programs may be using.
extension Migrator {
    /// Opens a file that may have been removed or replaced since it was listed.
    ///
    /// - Returns: What `body` returns, or ``MigratedFile/Outcome/left(_:)`` when the file is gone.
    func withOriginal(
        _ original: Original, _ body: (OpenOriginal) throws(CacheError) -> MigratedFile.Outcome
    ) throws(CacheError) -> MigratedFile.Outcome {
        let file: Descriptor
        do {
            file = try fileSystem.open(original.name, in: original.folder.descriptor, .read)
        } catch {
            if error.isNotFound { return .left(.changed) }
            if error.isNotRegularFile { return .left(.notARegularFile) }
            throw .fileSystem(error.naming(original.name))
        }
        defer { fileSystem.close(file) }
        let attributes = try files.attributes(of: file)
        guard attributes.kind == .regular else { return .left(.notARegularFile) }
        return try body(OpenOriginal(file: file, attributes: attributes))
    }

    /// Runs `body` while no other migration imports the same file: a second one would rewrite the item after the first
    /// has flushed it, find the file gone, and remove the item.
    func exclusively(
        with original: Original, _ opened: OpenOriginal,
        _ body: () throws(CacheError) -> MigratedFile.Outcome
    ) throws(CacheError) -> MigratedFile.Outcome {
        guard !isDryRun else { return try body() }
        do {
            guard try fileSystem.lock(opened.file, waiting: false) else { return .left(.changed) }
        } catch {
            guard error.isUnsupported else { throw .fileSystem(error.naming(original.name)) }
        }
        // Another migration may have just finished with it.
        guard try isUnchanged(original, opened) else { return .left(.changed) }
        return try body()
    }

    /// Whether a file still has its name, is unchanged since it was opened, and is not being written.
    func isUnchanged(_ original: Original, _ opened: OpenOriginal) throws(CacheError) -> Bool {
        let isBeingWritten = try onFiles(fileSystem.isBeingWritten(opened.file))
        guard !isBeingWritten else { return false }
        return try files.attributes(of: original.name, in: original.folder)?
            .isUnchanged(since: opened.attributes) ?? false
    }

    func checksum(of file: Descriptor) throws(CacheError) -> UInt64 {
        try onFiles(fileSystem.contentChecksum(of: file))
    }

    /// Removes a file whose content is durable elsewhere, unless it was changed meanwhile.
    ///
    /// - Returns: Whether it was removed.
    func drop(_ original: Original, _ opened: OpenOriginal) throws(CacheError) -> Bool {
        let name = original.destination.name
        return try onFiles { () throws(FileSystemError) in
            let removal = try files.remove(
                opened.file, opened.attributes, name, in: original.folder,
                by: files.nextAsideName(name), in: original.folder)
            guard case .removed = removal else { return false }
            try fileSystem.synchronize(original.folder.descriptor)
            return true
        }
    }

    /// Restores the name of a file that a migration moved aside before its process died.
    func putBackIfAside(_ entry: inout FolderWalk.Entry) throws(Left) {
        guard !isDryRun, let name = CacheLayout.name(ofAside: entry.name) else { return }
        do {
            let place = try files.putBack(
                FilePath(root: nil, [entry.name]), as: name, from: entry.folder, in: entry.folder)
            guard let name = place?.path.lastComponent else { return }
            entry = entry.named(name)
        } catch {
            throw Left(.failed(.fileSystem(error)))
        }
    }

    /// Whether a file already has its new name: removing the old one would then remove it.
    func isInPlace(_ original: Original, _ opened: OpenOriginal, as name: FileName, in folder: Directory)
        throws(CacheError) -> Bool
    {
        guard try files.attributes(of: name.path, in: folder)?.identity == opened.attributes.identity
        else {
            return false
        }
        // The same file by another path, or another hard link to it, which may be removed.
        guard opened.attributes.linkCount > 1 else { return true }
        let (one, other) = (
            try files.attributes(of: original.folder.descriptor).identity,
            try files.attributes(of: folder.descriptor).identity
        )
        return one == other && original.name == name.path
    }

    /// Handles a file whose key was promoted before, possibly by an earlier run that was interrupted.
    func merge(_ original: Original, _ opened: OpenOriginal, into entry: LedgerEntry)
        throws(CacheError) -> MigratedFile.Outcome
    {
        let place = destinations.location(of: entry)
        guard let folder = try destinations.existingFolder(of: entry) else { return .left(.keyIsTaken) }
        if try isInPlace(original, opened, as: entry.name, in: folder) { return .adopted(place) }
        guard opened.attributes.length == entry.contentBytes,
            try checksum(of: opened.file) == entry.contentChecksum
        else { return .left(.keyIsTaken) }
        let isSame = try destinations.coordinated(.write, entry) { () throws(CacheError) in
            guard try files.isIdentical(entry, in: folder) else { return false }
            // An adopted file may never have been flushed.
            if !isDryRun { try files.flushFile(of: entry, in: folder) }
            return true
        }
        guard isSame else { return .left(.keyIsTaken) }
        if isDryRun { return .merged(place) }
        return try drop(original, opened) ? .merged(place) : .left(.changed)
    }
}

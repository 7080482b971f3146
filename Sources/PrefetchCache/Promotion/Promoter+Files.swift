internal import FileSystem
internal import ItemFormat
internal import Logging
internal import StorageAreas
internal import SystemPackage

extension FileName {
    var path: FilePath { FilePath(string) }
}

extension FolderPath {
    var path: FilePath { FilePath(string) }
}

/// The calls on files that promotion and recovery share.
extension Promoter {
    /// The folder that an item goes to, created if missing. Its path may change, see
    /// ``SupportFolders/destination(in:_:)``.
    func destination(in area: Area, _ folder: inout FolderPath?) throws(CacheError) -> Directory {
        try requireRoot(of: area)
        let path = path(of: area, folder)
        return try coordinated(.write, in: area, at: path) { () throws(CacheError) in
            do throws(FileSystemError) {
                return try support.destination(in: area, &folder)
            } catch {
                throw .destination(path, error)
            }
        }
    }

    /// The folder of an intent. If its path changes, that is entered.
    func destination(of intent: inout LedgerEntry) throws(CacheError) -> Directory {
        let entered = intent
        let folder = try destination(in: intent.area, &intent.folder)
        if intent.folder != entered.folder { try ledger.put(intent, replacing: entered) }
        return folder
    }

    /// The staging folder on the volume of a destination. The names of both are durable.
    func stagingFolder(for destination: Directory, _ area: Area, _ folder: FolderPath?)
        throws(CacheError) -> Directory
    {
        let path = path(of: area, folder)
        return try coordinated(.write, in: area, at: path) { () throws(CacheError) in
            do throws(FileSystemError) {
                try support.makeNamesDurable(to: area)
                return try support.staging(for: destination, in: area, folder)
            } catch {
                throw .destination(path, error)
            }
        }
    }

    /// The folder that an item went to, or `nil` when it no longer exists. The caller coordinates.
    func existingFolder(of entry: LedgerEntry) throws(CacheError) -> Directory? {
        do {
            return try support.existingDestination(in: entry.area, entry.folder)
        } catch {
            throw .destination(path(of: entry.area, entry.folder), error)
        }
    }

    func attributes(of file: Descriptor) throws(CacheError) -> FileAttributes {
        try onFiles { () throws(FileSystemError) in try fileSystem.attributes(of: file) }
    }

    func birthTime(of file: Descriptor) throws(CacheError) -> Int64? {
        try onFiles { () throws(FileSystemError) in try fileSystem.birthTime(of: file) }
    }

    /// The attributes of whatever is under the name of a promotion.
    func attributes(of entry: LedgerEntry, in folder: Directory) throws(CacheError) -> FileAttributes? {
        try onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.attributes(of: entry.name.path, in: folder.descriptor)
        }
    }

    func attributes(of name: FilePath, in folder: Directory) throws(CacheError) -> FileAttributes? {
        try onFiles { () throws(FileSystemError) in
            try fileSystem.attributes(of: name, in: folder.descriptor)
        }
    }

    /// Sets the backup mark of a file before it is published. A file system that cannot store the mark, or
    /// refuses it, does not prevent publishing: the mark is guidance.
    ///
    /// - Returns: Whether the file has the mark now.
    @discardableResult
    func mark(_ file: Descriptor, _ backup: BackupPolicy) throws(FileSystemError) -> Bool {
        do {
            try BackupMark(fileSystem: fileSystem).set(backup, on: file)
            return true
        } catch {
            guard error.isUnsupported || error.isOutOfSpace || error.isNotPermitted else { throw error }
            return false
        }
    }

    /// Sets the mark again when publishing has lost it: otherwise the next backup would include the file.
    func renewMark(of entry: LedgerEntry, in folder: Directory) throws(CacheError) {
        guard entry.backup == .exclude else { return }
        _ = try withFile(of: entry, in: folder) { file throws(FileSystemError) in
            guard try BackupMark(fileSystem: fileSystem).policy(of: file) != entry.backup,
                try isOurs(file, by: entry)
            else { return }
            if try mark(file, entry.backup) { try fileSystem.synchronize(file) }
        }
    }

    /// Includes a file in backups that was written here for other keys which did not want that, and is now wanted
    /// there.
    ///
    /// - Parameter others: The entries with the same content.
    /// - Returns: What is to change in the ledger with the promotion.
    func include(_ entry: LedgerEntry, in folder: Directory, despite others: [LedgerEntry])
        throws(CacheError) -> [LedgerChange]
    {
        guard !others.isEmpty else { return [] }
        return try withFile(of: entry, in: folder) { file throws(FileSystemError) in
            var changes: [LedgerChange] = []
            for other in others where try isOurs(file, by: other) {
                var included = other
                included.backup = .include
                changes.append(LedgerChange(old: other, new: included))
            }
            if !changes.isEmpty, try mark(file, .include) { try fileSystem.synchronize(file) }
            return changes
        } ?? []
    }

    /// Whether a file is the one that was written for an entry, and not one that was there already, or that its user
    /// has put in its place.
    func isOurs(_ file: Descriptor, by entry: LedgerEntry) throws(FileSystemError) -> Bool {
        guard entry.origin != .adopted, try fileSystem.attributes(of: file).identity.inode == entry.inode
        else { return false }
        guard let birthTime = entry.birthTime else { return entry.origin == .written }
        return try fileSystem.birthTime(of: file) == birthTime
    }

    /// Opens the file of an entry.
    ///
    /// - Returns: `nil` when there is none: it is the user's, who may have moved or replaced it.
    private func withFile<Result>(
        of entry: LedgerEntry, in folder: Directory, _ body: (Descriptor) throws(FileSystemError) -> Result
    ) throws(CacheError) -> Result? {
        do {
            return try fileSystem.withFile(entry.name.path, in: folder.descriptor, .read, body)
        } catch {
            guard error.isNotFound || error.isNoRegularFile else {
                throw .destination(path(of: entry), error)
            }
            return nil
        }
    }

    /// Removes a name, which may be gone already.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    func discard(_ name: FilePath, in folder: Directory) throws(CacheError) -> Bool {
        do {
            try fileSystem.unlink(name, in: folder.descriptor)
            return true
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
            return false
        }
    }

    /// Whether there is a file under the name of an item.
    func hasCachedCopy(_ key: ItemKey) throws(CacheError) -> Bool {
        try attributes(of: CacheLayout.file(of: key.hash), in: folders.current.items) != nil
    }

    /// Removes the cached copy of a promoted item, if there is one. A failure is only logged: the item is
    /// promoted all the same.
    func dropCachedCopy(_ key: ItemKey) {
        do {
            try removeCachedCopy(key)
        } catch {
            environment.logger.warning(
                "The cached copy of a promoted item stays behind.",
                metadata: ["key": "\(key)", "error": "\(error)"])
        }
    }

    /// - Parameter identity: Only this file is removed, unless it is `nil`.
    @discardableResult
    func removeCachedCopy(_ key: ItemKey, _ identity: FileAttributes.Identity? = nil)
        throws(CacheError) -> Bool
    {
        try removeCachedCopy(key.hash, identity)
    }

    /// - Returns: Whether there was one.
    @discardableResult
    func removeCachedCopy(_ hash: KeyHash, _ identity: FileAttributes.Identity?) throws(CacheError) -> Bool {
        let items = folders.current.items
        let name = CacheLayout.file(of: hash)
        return try itemLocks.hold(hash) { () throws(CacheError) in
            // A link or the like under the name of an item is not ours.
            guard let found = try attributes(of: name, in: items), found.kind == .regular,
                identity == nil || found.identity == identity, try discard(name, in: items)
            else { return false }
            catalog.noteRemoved(hash)
            return true
        }
    }

    func checksum(of name: FilePath, in folder: Directory) throws(FileSystemError) -> UInt64 {
        try fileSystem.withFile(name, in: folder.descriptor, .read) { file throws(FileSystemError) in
            try fileSystem.contentChecksum(of: file)
        }
    }

    /// Runs a body that touches the destination's volume, and names the destination in its errors.
    func onDestination<Result>(
        _ entry: LedgerEntry, _ body: () throws(FileSystemError) -> Result
    ) throws(CacheError) -> Result {
        do {
            return try body()
        } catch {
            throw .destination(path(of: entry), error)
        }
    }

    private func path(of area: Area, _ folder: FolderPath?) -> FilePath {
        (support.areas.path(of: area) ?? "").pushing(support.relativePath(in: area, folder))
    }

    /// Where an item will go, unless that name is taken.
    func path(of destination: Destination) -> FilePath {
        path(of: destination.area, destination.folder).pushing(destination.name.path)
    }

    func path(of entry: LedgerEntry) -> FilePath {
        path(of: entry.area, entry.folder).pushing(entry.name.path)
    }

    func opened(_ entry: LedgerEntry, isFirstOpen: Bool) -> OpenedItem {
        let relative = support.relativePath(in: entry.area, entry.folder).pushing(entry.name.path)
        guard let location = AreaPath(area: entry.area, relative: relative) else {
            preconditionFailure("neither a file name nor a folder has a component '..'")
        }
        return OpenedItem(
            key: entry.key, path: path(of: entry), location: location, folder: entry.folder,
            contentLength: entry.contentLength, isFirstOpen: isFirstOpen)
    }
}

extension Miss {
    /// Classifies an error of reading an item as a miss.
    ///
    /// - Throws: Errors that are not properties of the item, such as those of the file system.
    init(_ error: ItemFormatError) throws(CacheError) {
        switch error {
        case .purged: self = .purged
        case .damaged: self = .damaged(error)
        case .newerVersion(let version): self = .newerFormat(version: version)
        case .fileSystem(let error):
            guard error.isNoRegularFile else { throw .fileSystem(error) }
            self = .absent
        default: throw .item(error)
        }
    }
}

internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

/// The folders of the cache in Caches, held open, and recreated when the system purges them.
final class CacheFolders: Sendable {
    struct Handles: Sendable {
        let root: Directory
        let items: Directory
        let incoming: Directory
        let itemFolders = ItemFolders()

        /// One of the 256 folders of items, and the hashes in the names that it has.
        ///
        /// - Returns: `nil` when there is no such folder.
        func itemFolder(_ prefix: UInt8) throws(FileSystemError) -> (folder: Directory, hashes: [KeyHash])? {
            let range = KeyHash.range(inFolder: prefix)
            guard let folder = try items.open(CacheLayout.folder(of: range.lowerBound)) else { return nil }
            let hashes = try items.fileSystem.entries(of: folder.descriptor)
                .compactMap { KeyHash(hexadecimal: $0.name.string) }
            return (folder, hashes.filter(range.contains))
        }

        /// The item folders that exist, by the first byte of the hashes in them: a small cache has few of the
        /// 256.
        func itemFolderNumbers() throws(FileSystemError) -> Set<UInt8> {
            Set(
                try items.fileSystem.entries(of: items.descriptor).compactMap {
                    UInt8($0.name.string, radix: 16)
                })
        }
    }

    let areas: StorageAreas
    let fileSystem: any FileSystem
    private let handles: UnfairMutex<Handles>
    private let protection = UnfairMutex<FileProtection?>(nil)
    /// For locks that other processes hold in these folders.
    let patience: Patience

    init(
        areas: StorageAreas, fileSystem: any FileSystem, patience: Patience = Patience()
    ) throws(CacheError) {
        self.patience = patience
        self.areas = areas
        self.fileSystem = fileSystem
        let opened = try Self.open(areas, fileSystem)
        handles = UnfairMutex(opened)
    }

    var current: Handles { handles.withLock { $0 } }

    /// Protects what is created in the folders from now on, even if they have to be created again.
    func protect(_ protection: FileProtection) throws(FileSystemError) {
        self.protection.withLock { $0 = protection }
        try current.root.protect(protection)
    }

    /// Reopens the folders when one of them was removed, moved or replaced.
    ///
    /// - Returns: Whether anything had to be reopened.
    func repair() throws(CacheError) -> Bool {
        let handles = current
        let areInPlace = try onFiles { () throws(FileSystemError) in
            let (root, path) = (handles.root, areas.caches.pushing(CacheLayout.root))
            guard try root.isNamed(path, in: .workingDirectory),
                try handles.items.isNamed(CacheLayout.items, in: root.descriptor)
            else { return false }
            return try handles.incoming.isNamed(CacheLayout.incoming, in: root.descriptor)
        }
        if areInPlace { return false }
        let fresh = try Self.open(areas, fileSystem)
        if let protection = protection.withLock({ $0 }) { try onFiles(fresh.root.protect(protection)) }
        self.handles.withLock { $0 = fresh }
        return true
    }

    /// Opens an item's file, or returns `nil` when there is none. Until the descriptor is closed the file is leased: it
    /// cannot be evicted. A file that is being evicted is opened without a lease, since readers never wait: its content
    /// can be read to its end even if it is unlinked.
    func openItem(_ hash: KeyHash) throws(CacheError) -> Descriptor? {
        if let file = try openItemNow(hash) { return file }
        // The open folder may have been removed, and another process may have created and filled a new one.
        return try repair() ? openItemNow(hash) : nil
    }

    /// Opens an item's file as ``openItem(_:)`` does, waits for the lease, and makes sure that the file was not evicted
    /// before that.
    func openItemToStay(_ hash: KeyHash) throws(CacheError) -> Descriptor? {
        while let file = try openItem(hash) {
            do throws(CacheError) {
                let (items, name) = (current.items, CacheLayout.file(of: hash))
                let isLeased = try onFiles { () throws(FileSystemError) in
                    try patience.wait { () throws(FileSystemError) in
                        try fileSystem.lockIfSupported(file, .shared)
                    }
                }
                guard isLeased else { throw .busy("item", [name], in: items) }
                let attributes = try onFiles(fileSystem.attributes(of: file))
                if attributes.linkCount > 0 { return file }
            } catch {
                fileSystem.close(file)
                throw error
            }
            fileSystem.close(file)
        }
        return nil
    }

    private func openItemNow(_ hash: KeyHash) throws(CacheError) -> Descriptor? {
        // A symbolic link, or the like, under the name of an item is not ours and is left alone.
        try onFiles(
            ifPresent { () throws(FileSystemError) in
                try fileSystem.open(
                    CacheLayout.file(of: hash), in: current.items.descriptor, .readWithoutAccessTime
                ) {
                    file throws(FileSystemError) in
                    _ = try fileSystem.lockIfSupported(file, .shared)
                    return true
                }
            }) ?? nil
    }

    /// The folder for damaged items, created when it is first needed.
    func quarantine() throws(CacheError) -> Directory {
        let root = current.root
        return try onFiles(
            root.openOrCreate(CacheLayout.quarantine, permissions: CacheLayout.folderPermissions))
    }

    /// How often the folders are made again when the system takes them away while they are being made.
    private static let attempts = 20

    private static func open(_ areas: StorageAreas, _ fileSystem: any FileSystem) throws(CacheError)
        -> Handles
    {
        for _ in 1..<attempts {
            do throws(CacheError) {
                return try openNow(areas, fileSystem)
            } catch {
                guard case .fileSystem(let reason) = error, reason.isNotFound else { throw error }
            }
        }
        return try openNow(areas, fileSystem)
    }

    private static func openNow(_ areas: StorageAreas, _ fileSystem: any FileSystem) throws(CacheError)
        -> Handles
    {
        let permissions = CacheLayout.folderPermissions
        let (area, root) = try openRoot(in: areas.caches, fileSystem)
        return try onFiles { () throws(FileSystemError) in
            try CacheDirectoryTag.ensure(in: area.descriptor, of: fileSystem)
            return Handles(
                root: root,
                items: try root.openOrCreate(CacheLayout.items, permissions: permissions),
                incoming: try root.openOrCreate(CacheLayout.incoming, permissions: permissions))
        }
    }

    /// Opens an area and our root in it, and refuses a root that belongs to others or that others can write
    /// to.
    static func openRoot(in area: FilePath, _ fileSystem: any FileSystem)
        throws(CacheError) -> (area: Directory, root: Directory)
    {
        let (folder, root) = try onFiles { () throws(FileSystemError) in
            let folder = try Directory.openOrCreate(
                area, permissions: CacheLayout.folderPermissions, in: fileSystem)
            let root = try folder.openOrCreate(
                CacheLayout.root, permissions: CacheLayout.folderPermissions)
            return (folder, root)
        }
        let attributes = try onFiles(fileSystem.attributes(of: root.descriptor))
        guard attributes.isWritableByOwnerAlone(fileSystem.userID) else {
            throw .notOurs(area.pushing(CacheLayout.root))
        }
        return (folder, root)
    }
}

extension FileAttributes {
    /// Whether `owner` owns the file and nobody else may write to it.
    func isWritableByOwnerAlone(_ owner: UInt32) -> Bool {
        self.owner == owner && permissions.isDisjoint(with: [.groupWrite, .otherWrite])
    }
}

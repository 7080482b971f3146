internal import FileSystem
internal import StorageAreas
internal import SystemPackage

/// The folders of the cache in Application Support, and the destinations.
struct SupportFolders: Sendable {
    let areas: StorageAreas
    let fileSystem: any FileSystem
    let root: Directory
    let staging: Directory
    private let durableNames = DurableNames()

    init(areas: StorageAreas, fileSystem: any FileSystem) throws(CacheError) {
        self.areas = areas
        self.fileSystem = fileSystem
        let root = try CacheFolders.openRoot(in: areas.applicationSupport, fileSystem).root
        self.root = root
        staging = try onFiles { () throws(FileSystemError) in
            if let staging = try root.open(CacheLayout.staging) { return staging }
            let staging = try root.openOrCreate(
                CacheLayout.staging, permissions: CacheLayout.folderPermissions)
            try Self.excludeFromBackup(staging)
            return staging
        }
    }

    /// The folder that promoted items of an area go to, made when it is first needed.
    func destination(in area: Area) throws(FileSystemError) -> Directory {
        switch area {
        case .applicationSupport:
            return try root.openOrCreate(CacheLayout.files, permissions: CacheLayout.folderPermissions)
        default:
            return try Directory.openOrCreate(
                areas.documents, permissions: CacheLayout.userFolderPermissions, in: fileSystem)
        }
    }

    /// Where a promoted item lies relative to its area.
    func relativePath(of name: FilePath.Component, in area: Area) -> FilePath {
        area == .applicationSupport
            ? CacheLayout.root.pushing(CacheLayout.files).appending(name) : FilePath(root: nil, [name])
    }

    /// A folder for staging on the volume of `destination`: the usual one, or a hidden one in the
    /// destination's own folder when that is on another volume.
    func staging(for destination: Directory) throws(FileSystemError) -> Directory {
        let here = try fileSystem.attributes(of: staging.descriptor).identity.device
        let there = try fileSystem.attributes(of: destination.descriptor).identity.device
        guard here != there else { return staging }
        let foreign = try destination.openOrCreate(
            CacheLayout.foreignStaging, permissions: CacheLayout.folderPermissions)
        try Self.excludeFromBackup(foreign)
        return foreign
    }

    /// Flushes, once per process, the names of all folders that lead to a destination and to the ledger:
    /// whoever made one of them may have died before it had flushed its name, and everything in it goes
    /// with a name that is lost.
    func makeNamesDurable(to area: Area) throws(FileSystemError) {
        let support = areas.applicationSupport.pushing(CacheLayout.root)
        let destination =
            area == .applicationSupport ? support.pushing(CacheLayout.files) : areas.path(of: area) ?? support
        for path in [support.pushing(CacheLayout.staging), destination] {
            try durableNames.flush(above: path, in: fileSystem)
        }
    }

    /// All folders for staging that are there.
    func stagingFolders() throws(FileSystemError) -> [Directory] {
        do {
            let documents = Directory(
                try fileSystem.open(areas.documents, in: .workingDirectory, .directoryFollowingLinks),
                of: fileSystem)
            guard let foreign = try documents.open(CacheLayout.foreignStaging) else { return [staging] }
            return [staging, foreign]
        } catch {
            // A destination that cannot be looked at now is no reason to refuse the whole cache.
            guard error.isNotFound || error.isNotPermitted || error.isNoRegularFile else { throw error }
            return [staging]
        }
    }

    /// What is under way needs no backup. A file system without a place for the mark is no reason to
    /// refuse service.
    private static func excludeFromBackup(_ folder: Directory) throws(FileSystemError) {
        do {
            try BackupMark(fileSystem: folder.fileSystem).set(.exclude, on: folder.descriptor)
        } catch {
            guard error.isUnsupported else { throw error }
        }
    }
}

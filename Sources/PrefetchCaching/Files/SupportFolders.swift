internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

/// The folders of the cache in Application Support, and the destinations.
final class SupportFolders: Sendable {
    let areas: StorageAreas
    let fileSystem: any FileSystem
    let root: Directory
    let staging: Directory
    var spareRoom: SpareRoom { SpareRoom(folder: staging) }
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

    /// The folder that a promoted item goes to, created durably if missing: a process that created part of it
    /// earlier may have died before the flush. Links below the area are not followed.
    ///
    /// - Parameter path: The path of the folder. A name in it that is not accepted is replaced by a similar one.
    func destination(in area: Area, _ path: inout FolderPath?) throws(FileSystemError) -> Directory {
        var folder = try topFolder(of: area)
        let permissions = CacheLayout.folderPermissions(in: area)
        var names = path?.components ?? []
        for index in names.indices {
            folder = try openOrCreate(&names[index], in: folder, permissions)
            if index == names.startIndex, isBelowExcludedFolder(path, in: area) { try renewExclusion(folder) }
        }
        do {
            if let wanted = path, wanted.components != names { path = try FolderPath(names) }
        } catch {
            throw FileSystemError("mkdirat", path: path?.path, errno: .fileNameTooLong)
        }
        return folder
    }

    private func openOrCreate(
        _ name: inout FileName, in folder: Directory, _ permissions: FilePermissions
    ) throws(FileSystemError) -> Directory {
        while true {
            do {
                let isNew = try fileSystem.makeDirectory(
                    name.path, in: folder.descriptor, permissions: permissions)
                let inner = try fileSystem.open(name.path, in: folder.descriptor, .directory)
                let opened = Directory(inner, of: fileSystem)
                if isNew { try noteCreated(inner) }
                try durableNames.flush(name.path, of: opened, in: folder)
                return opened
            } catch {
                guard error.isRefusedName, let other = name.adapted(to: error.errno) else { throw error }
                name = other
            }
        }
    }

    /// The attribute of a folder that was made for promoted items.
    private static let createdAttribute = "user.prefetchcache.created"

    /// Where there are no attributes, the folder stays when it is empty again.
    private func noteCreated(_ folder: Descriptor) throws(FileSystemError) {
        do {
            try fileSystem.setExtendedAttribute(Self.createdAttribute, to: [1], of: folder)
        } catch {
            guard error.isUnsupported || error.isOutOfSpace else { throw error }
        }
    }

    /// Removes the folders that a file has left empty, the innermost first, as far as they were made for promoted items. An
    /// area's own folder stays, and so does the one that backups exclude.
    func removeEmptyFolders(_ path: FolderPath?, in area: Area) throws(FileSystemError) {
        var path = path
        while let folder = path, let name = folder.components.last {
            let outer = folder.components.dropLast()
            do { path = try outer.isEmpty ? nil : FolderPath(Array(outer)) } catch { return }
            if path == nil, isBelowExcludedFolder(folder, in: area) { return }
            guard let parent = try existingDestination(in: area, path),
                let inner = try existingDestination(in: area, folder),
                try BackupMark(fileSystem: fileSystem).attribute(Self.createdAttribute, of: inner.descriptor)
                    != nil
            else { return }
            do {
                try fileSystem.removeDirectory(name.path, in: parent.descriptor)
                try fileSystem.synchronize(parent.descriptor)
            } catch {
                guard error.isNotFound || error.errno == .directoryNotEmpty || error.errno == .fileExists
                else {
                    throw error
                }
                return
            }
        }
    }

    /// The folder that a promoted item went to, or `nil` when it no longer exists. The folder is the user's, so a
    /// lookup does not recreate it.
    func existingDestination(in area: Area, _ folder: FolderPath?) throws(FileSystemError) -> Directory? {
        guard let top = try existingTopFolder(of: area) else { return nil }
        guard let folder else { return top }
        do {
            return try top.open(folder.path)
        } catch {
            // A symbolic link or a file has the name of the folder.
            guard error.isNotRegularFile else { throw error }
            return nil
        }
    }

    private func topFolder(of area: Area) throws(FileSystemError) -> Directory {
        switch area {
        case .applicationSupport:
            return try root.openOrCreate(CacheLayout.files, permissions: CacheLayout.folderPermissions)
        default:
            return try Directory.openOrCreate(
                root(of: area), permissions: CacheLayout.folderPermissions(in: area), in: fileSystem)
        }
    }

    /// iCloud Drive comes and goes with the account, and Documents is the user's: a lookup creates neither.
    private func existingTopFolder(of area: Area) throws(FileSystemError) -> Directory? {
        if area == .applicationSupport { return try root.open(CacheLayout.files) }
        do {
            return try Directory(at: root(of: area), in: fileSystem)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    private func root(of area: Area) throws(FileSystemError) -> FilePath {
        guard area == .iCloudDrive else { return areas.documents }
        guard let root = areas.iCloudDrive else {
            throw FileSystemError("open", path: FilePath(area.name), errno: .noSuchFileOrDirectory)
        }
        return root
    }

    /// The folder of promoted items, relative to its area.
    static func relativePath(in area: Area, _ folder: FolderPath?) -> FilePath {
        let top = area == .applicationSupport ? CacheLayout.root.pushing(CacheLayout.files) : ""
        return folder.map { top.pushing($0.path) } ?? top
    }

    /// A staging folder from which a file can be renamed into `destination`: the usual one or, when that is on another
    /// volume, a hidden folder in the topmost folder below the area that is on the volume of `destination`: a user's
    /// folder may be a mount point.
    ///
    /// - Throws: `EXDEV` for another volume in iCloud Drive, where staged files would be uploaded.
    func staging(for destination: Directory, in area: Area, _ folder: FolderPath?)
        throws(FileSystemError) -> Directory
    {
        if try isOneVolume(staging, destination) { return staging }
        if area == .iCloudDrive { throw FileSystemError("rename", errno: .improperLink) }
        var host = destination
        var next: Directory? = try topFolder(of: area)
        for name in folder?.components ?? [] {
            guard let outer = next else { break }
            if try isOneVolume(outer, destination) {
                host = outer
                break
            }
            next = try outer.open(name.path)
        }
        let foreign = try host.openOrCreate(
            CacheLayout.foreignStaging, permissions: CacheLayout.folderPermissions, flushing: true)
        try requireOurs(foreign)
        try Self.excludeFromBackup(foreign)
        return foreign
    }

    /// Checks the owner of a staging folder: where others may write, another user may have created it.
    ///
    /// - Throws: `EPERM` when another user owns it or may write to it.
    private func requireOurs(_ foreign: Directory) throws(FileSystemError) {
        guard try fileSystem.attributes(of: foreign.descriptor).isWritableByOwnerAlone(fileSystem.userID)
        else {
            throw FileSystemError("stat", path: CacheLayout.foreignStaging, errno: .notPermitted)
        }
    }

    /// Flushes, once per process, the names of all folders that lead to a destination and to the ledger. A process that
    /// created one of them may have died before the flush, and a lost name takes everything below it along.
    func makeNamesDurable(to area: Area) throws(FileSystemError) {
        let support = areas.applicationSupport.pushing(CacheLayout.root)
        let destination =
            area == .applicationSupport ? support.pushing(CacheLayout.files) : areas.path(of: area) ?? support
        for path in [support.pushing(CacheLayout.staging), destination] {
            try durableNames.flush(path, in: fileSystem)
        }
    }

    /// Whether a file can be renamed from one folder into the other.
    ///
    /// Comparing device numbers is not enough: a device that is mounted twice has one number, yet nothing can be
    /// renamed across the mounts. The kernel reports `EXDEV` before it looks for the file.
    func isOneVolume(_ one: Directory, _ other: Directory) throws(FileSystemError) -> Bool {
        let devices = [
            try fileSystem.attributes(of: one.descriptor).identity.device,
            try fileSystem.attributes(of: other.descriptor).identity.device,
        ]
        guard devices[0] == devices[1] else { return false }
        do {
            try fileSystem.rename(
                CacheLayout.nonexistent, in: one.descriptor, to: CacheLayout.nonexistent,
                in: other.descriptor,
                .exclusive)
        } catch {
            if error.errno == .improperLink { return false }
            guard error.isNotFound else { throw error }
        }
        return true
    }

    /// All staging folders that exist, except in mount points below an area, which are inspected when they are used.
    func stagingFolders() throws(FileSystemError) -> [Directory] {
        do {
            let documents = try Directory(at: areas.documents, in: fileSystem)
            guard let foreign = try documents.open(CacheLayout.foreignStaging) else { return [staging] }
            let attributes = try fileSystem.attributes(of: foreign.descriptor)
            return attributes.isWritableByOwnerAlone(fileSystem.userID) ? [staging, foreign] : [staging]
        } catch {
            guard error.isNotFound else { throw error }
            return [staging]
        }
    }

    // MARK: The folder that backups exclude

    func isBelowExcludedFolder(_ path: FolderPath?, in area: Area) -> Bool {
        areas.isExcludedFolder(path?.components.first, in: area)
    }

    /// Whether a folder above a promoted item keeps it out of backups, so that its file needs no mark.
    func isExcluded(_ path: FolderPath?, in area: Area) throws(FileSystemError) -> Bool {
        guard let folder = try excludedFolder(above: path, in: area) else { return false }
        return try BackupMark(fileSystem: fileSystem).policy(of: folder.descriptor) == .exclude
    }

    /// The folder of an area that backups exclude, if it exists and the path begins with it.
    func excludedFolder(above path: FolderPath?, in area: Area) throws(FileSystemError) -> Directory? {
        guard isBelowExcludedFolder(path, in: area), let name = path?.components.first else { return nil }
        return try folder(name, in: area)
    }

    /// A folder at the top of an area, if it exists.
    func folder(_ name: FileName, in area: Area) throws(FileSystemError) -> Directory? {
        guard let top = try existingTopFolder(of: area) else { return nil }
        do {
            return try top.open(name.path)
        } catch {
            guard error.isNotRegularFile else { throw error }
            return nil
        }
    }

    func renewExclusion(above path: FolderPath?, in area: Area) throws(FileSystemError) {
        if let folder = try excludedFolder(above: path, in: area) { try renewExclusion(folder) }
    }

    /// Marks the folder that backups exclude, and on Linux tags it, durably, unless it is marked and tagged already.
    ///
    /// One with neither that is not empty is the user's: excluding it might exclude files that cannot be downloaded
    /// again, so the items that go there are marked one by one.
    ///
    /// - Returns: Whether a mark or tag was missing and was set.
    @discardableResult
    func renewExclusion(_ folder: Directory, isDryRun: Bool = false) throws(FileSystemError) -> Bool {
        let file = folder.descriptor
        let isMarked = try BackupMark(fileSystem: fileSystem).policy(of: file) == .exclude
        #if canImport(Darwin)
            let isTagged = isMarked
        #else
            let isTagged = try fileSystem.attributes(of: CacheDirectoryTag.name, in: file) != nil
        #endif
        if isMarked, isTagged { return false }
        if !isMarked, !isTagged, try !fileSystem.entries(of: file).isEmpty { return false }
        if isDryRun { return true }
        try Self.excludeFromBackup(folder)
        // Before the tag: a process that finds both takes the mark for durable.
        try fileSystem.synchronize(file)
        #if !canImport(Darwin)
            try CacheDirectoryTag.ensure(in: file, of: fileSystem, flushing: true)
        #endif
        if !isTagged { return true }
        return try BackupMark(fileSystem: fileSystem).policy(of: file) == .exclude
    }

    /// Staged files need no backup. A file system that cannot store the mark is tolerated.
    private static func excludeFromBackup(_ folder: Directory) throws(FileSystemError) {
        do {
            try BackupMark(fileSystem: folder.fileSystem).set(.exclude, on: folder.descriptor)
        } catch {
            guard error.isUnsupported else { throw error }
        }
    }
}

/// The names of folders that this process has flushed.
final class DurableNames: Sendable {
    /// Each with those of all folders above it.
    private let flushed = UnfairMutex<Set<FilePath>>([])
    private let links = UnfairMutex<Set<Link>>([])

    /// A folder under a name in another one. Its creation time tells it from a later folder that gets its inode.
    private struct Link: Hashable {
        let parent: FileAttributes.Identity
        let name: FilePath
        let folder: FileAttributes.Identity
        let birthTime: Int64
    }

    /// Makes the name of an open folder in another one durable, once: whoever created it may have died before flushing
    /// it. Each time, where the file system keeps no creation times. A folder that the user moves away and back is not
    /// told from one that stayed.
    func flush(_ name: FilePath, of folder: Directory, in parent: Directory) throws(FileSystemError) {
        let fileSystem = parent.fileSystem
        var link: Link?
        if let birthTime = try fileSystem.birthTime(of: folder.descriptor), birthTime > 0 {
            link = Link(
                parent: try fileSystem.attributes(of: parent.descriptor).identity, name: name,
                folder: try fileSystem.attributes(of: folder.descriptor).identity, birthTime: birthTime)
        }
        if let link, links.withLock({ $0.contains(link) }) { return }
        try fileSystem.synchronize(parent.descriptor)
        if let link { _ = links.withLock { $0.insert(link) } }
    }

    /// Makes the name of a folder and those of all folders above it durable, once. Folders that this user may
    /// not open were not created by us, and are skipped.
    func flush(_ path: FilePath, in fileSystem: any FileSystem) throws(FileSystemError) {
        var names: [FilePath] = []
        var name = path
        var folder = path
        while !flushed.withLock({ $0.contains(name) }), folder.removeLastComponent() {
            do {
                let opened = try Directory(at: folder, in: fileSystem)
                try fileSystem.synchronize(opened.descriptor)
            } catch {
                guard error.isNotPermitted || error.isUnsupported else { throw error }
            }
            names.append(name)
            name = folder
        }
        // Only at the end: a name is not durable without those above it.
        flushed.withLock { $0.formUnion(names) }
    }
}

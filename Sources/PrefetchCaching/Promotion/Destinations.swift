internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

/// Where promoted items go: the folders, with file coordination in iCloud Drive, and the paths for errors and users.
struct Destinations: Sendable {
    let support: SupportFolders
    let coordinator: (any FileCoordinating)?

    private var fileSystem: any FileSystem { support.fileSystem }

    /// The folder that an item goes to, created if missing, and its path.
    ///
    /// What backups exclude goes where its destination says, and is marked, if it cannot be kept together: a file of the
    /// user's may have the name of the folder.
    func destination(of target: Destination) throws(CacheError) -> (folder: Directory, path: FolderPath?) {
        var path = support.areas.folder(for: target)
        do {
            return (try destination(in: target.area, &path), path)
        } catch {
            path = target.folder
            guard target.backup == .exclude, support.areas.folder(for: target) != path else { throw error }
            return (try destination(in: target.area, &path), path)
        }
    }

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

    /// An unwritable destination must fail before anything changes.
    func requireWritable(_ place: PromotionPlace, in target: Destination) throws(CacheError) {
        do throws(FileSystemError) {
            try fileSystem.requireWritable(place.folder.descriptor)
        } catch {
            throw .destination(path(of: target), error)
        }
    }

    /// An item in staging can no longer be read from the cache, so an unwritable destination must fail before that.
    func requireWritable(_ place: PromotionPlace, for entry: LedgerEntry) throws(CacheError) {
        try coordinated(.write, entry) { () throws(CacheError) in
            try onDestination(entry, fileSystem.requireWritable(place.folder.descriptor))
        }
    }

    /// Runs a body that touches a destination: in iCloud Drive under file coordination, where available, and elsewhere
    /// directly. Locks are taken before and the ledger is written after, since a coordinator may wait for anything.
    func coordinated<Value>(
        _ access: CoordinatedAccess, in area: Area, at path: FilePath,
        _ body: () throws(CacheError) -> Value
    ) throws(CacheError) -> Value {
        guard area == .iCloudDrive, let coordinator else { return try body() }
        var result: Result<Value, CacheError>?
        do throws(FileSystemError) {
            try coordinator.coordinate(access, at: path) {
                result = Result { () throws(CacheError) in try body() }
            }
        } catch {
            // Without a cancelled task it is the system, or the user elsewhere, who refuses.
            throw error.errno == .canceled && Task.isCancelled ? .cancelled : .destination(path, error)
        }
        guard let result else {
            throw .destination(path, FileSystemError("coordinate", path: path, errno: .canceled))
        }
        return try result.get()
    }

    /// Runs a body that touches the file of a promotion.
    func coordinated<Value>(
        _ access: CoordinatedAccess, _ entry: LedgerEntry, _ body: () throws(CacheError) -> Value
    ) throws(CacheError) -> Value {
        try requireRoot(of: entry.area)
        return try coordinated(access, in: entry.area, at: path(of: entry), body)
    }

    /// Requires that an area is available: without an account, iCloud Drive is not, although files may exist in it.
    func requireRoot(of area: Area) throws(CacheError) {
        guard support.areas.path(of: area) != nil else { throw .destinationUnavailable(area) }
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

    func onDestination<Result>(
        _ entry: LedgerEntry, _ calls: @autoclosure () throws(FileSystemError) -> Result
    ) throws(CacheError) -> Result {
        try onDestination(entry) { () throws(FileSystemError) in try calls() }
    }

    private func path(of area: Area, _ folder: FolderPath?) -> FilePath {
        (support.areas.path(of: area) ?? "").pushing(SupportFolders.relativePath(in: area, folder))
    }

    /// Where an item will go, unless that name is taken.
    func path(of destination: Destination) -> FilePath {
        path(of: destination.area, support.areas.folder(for: destination)).pushing(destination.name.path)
    }

    func path(of entry: LedgerEntry) -> FilePath {
        path(of: entry.area, entry.folder).pushing(entry.name.path)
    }

    /// - Parameter presentBytes: The current length of the file; `nil` when it is not there.
    func promotedFile(_ entry: LedgerEntry, presentBytes: Int64?, isFirstOpen: Bool = false) -> PromotedFile {
        PromotedFile(
            key: entry.key, path: path(of: entry), location: entry.location, folder: entry.folder,
            name: entry.name, backup: entry.backup, contentBytes: entry.contentBytes,
            contentChecksum: entry.contentChecksum, openedAt: entry.openedAt,
            provenance: entry.provenance, isAdopted: entry.isAdopted, presentBytes: presentBytes,
            isFirstOpen: isFirstOpen, parts: entry.parts)
    }

    /// The file of a promotion that was just committed.
    func firstOpened(_ entry: LedgerEntry) -> PromotedFile {
        promotedFile(entry, presentBytes: entry.contentBytes, isFirstOpen: true)
    }
}

extension FileName {
    var path: FilePath { FilePath(string) }
}

extension FolderPath {
    var path: FilePath { FilePath(string) }
}

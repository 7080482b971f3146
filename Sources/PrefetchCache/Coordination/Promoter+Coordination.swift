internal import FileSystem
internal import StorageAreas
internal import SystemPackage

extension Promoter {
    /// Runs a body that touches a destination: in iCloud Drive under coordination, if there is any, and elsewhere
    /// directly. Locks are taken before and the ledger is written after, since it is unknown what a coordinator waits
    /// for.
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
            throw .destination(path, error)
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

    /// Requires that an area is available. If the user is not signed in, iCloud Drive is not, which
    /// says nothing about the files in it.
    func requireRoot(of area: Area) throws(CacheError) {
        guard support.areas.path(of: area) != nil else { throw .destinationUnavailable(area) }
    }
}

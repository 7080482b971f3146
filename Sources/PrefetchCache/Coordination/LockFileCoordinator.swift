internal import FileSystem
internal import SystemPackage

/// Stands in where the system does not coordinate: one `flock` for all of iCloud Drive, which keeps the
/// processes that use one cache apart, and nobody else. Its file lies in staging, where no user sees it.
struct LockFileCoordinator: FileCoordinating {
    let staging: Directory

    func coordinate(
        _ access: CoordinatedAccess, at path: FilePath, _ body: () -> Void
    ) throws(FileSystemError) {
        let fileSystem = staging.fileSystem
        let file = try fileSystem.open(
            CacheLayout.coordinationLock, in: staging.descriptor,
            .createIfMissing(CacheLayout.filePermissions))
        defer { fileSystem.unlock(file) }
        let isWriting = access == .publish || access == .write
        _ = try fileSystem.lock(file, isWriting ? .exclusive : .shared, waiting: true)
        body()
    }
}

internal import FileSystem
internal import SystemPackage

/// Coordinates where the system does not: by one `flock` for all of iCloud Drive, which excludes only the
/// processes that use the same cache. Its file is in staging, where users do not see it.
struct LockFileCoordinator: FileCoordinating {
    let staging: Directory
    private let patience: Patience

    init(staging: Directory, _ patience: Patience = Patience()) {
        self.staging = staging
        self.patience = patience
    }

    /// - Throws: `EAGAIN` when the lock was not to be had in time.
    func coordinate(
        _ access: CoordinatedAccess, at path: FilePath, _ body: () -> Void
    ) throws(FileSystemError) {
        let fileSystem = staging.fileSystem
        let file = try fileSystem.open(
            CacheLayout.coordinationLock, in: staging.descriptor,
            .createIfMissing(CacheLayout.filePermissions))
        defer { fileSystem.unlock(file) }
        let isWriting = access == .publish || access == .write
        let isLocked = try patience.wait(for: [CacheLayout.coordinationLock], in: staging) {
            () throws(FileSystemError) in
            try fileSystem.lock(file, isWriting ? .exclusive : .shared, waiting: false)
        }
        guard isLocked else {
            throw FileSystemError("flock", path: path, errno: .resourceTemporarilyUnavailable)
        }
        body()
    }
}

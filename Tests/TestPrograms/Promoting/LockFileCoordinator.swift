internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

/// Stands for the coordinator of a system: the lock of a file excludes others from all of iCloud Drive.
struct LockFileCoordinator: FileCoordinating {
    let file: FilePath

    func coordinate(
        _ access: CoordinatedAccess, at path: FilePath, _ body: () -> Void
    ) throws(FileSystemError) {
        let fileSystem = LiveFileSystem()
        let lock = try fileSystem.open(file, in: .workingDirectory, .createIfMissing(.ownerReadWrite))
        defer { fileSystem.unlock(lock) }
        let isWriting = access == .publish || access == .write
        _ = try fileSystem.lock(lock, isWriting ? .exclusive : .shared, waiting: true)
        body()
    }
}

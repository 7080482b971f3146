internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// Keeps two promotions of one key apart, across threads and processes: the `flock` of a file that
/// the key shares with 1/256 of all others. It dies with its process.
struct KeyLock: Sendable {
    let staging: Directory

    /// Runs `body` under the lock of a key.
    /// - Returns: `nil` when the lock is taken and `waiting` is false.
    func hold<Result>(
        _ hash: KeyHash, waiting: Bool, _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result? {
        let fileSystem = staging.fileSystem
        let file = try onFiles { () throws(FileSystemError) in
            try fileSystem.open(
                CacheLayout.keyLock(of: hash), in: staging.descriptor,
                .createIfMissing(CacheLayout.filePermissions))
        }
        defer { fileSystem.close(file) }
        let isHeld = try onFiles { () throws(FileSystemError) in try fileSystem.lock(file, waiting: waiting) }
        return isHeld ? try body() : nil
    }
}

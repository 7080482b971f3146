internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// Prevents concurrent promotions of one key, across threads and processes, by the `flock` of a file that the
/// key shares with 1/256 of all others. The lock ends with its process.
struct KeyLock: Sendable {
    let staging: Directory

    /// Runs `body` under the lock of a key. Waits for the lock.
    func hold<Result>(
        _ hash: KeyHash, _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        let held = try onFiles { () throws(FileSystemError) in try take([hash]) }
        defer { for file in held { staging.fileSystem.unlock(file) } }
        return try body()
    }

    /// Runs `body` under the lock of a key, unless it is held elsewhere.
    func holdIfFree(_ hash: KeyHash, _ body: () throws(CacheError) -> Void) throws(CacheError) {
        let file = try onFiles { () throws(FileSystemError) in
            try take(CacheLayout.keyLock(of: hash), waiting: false)
        }
        guard let file else { return }
        defer { staging.fileSystem.unlock(file) }
        try body()
    }

    /// Takes the locks of several keys, waiting for each.
    ///
    /// Each file is opened once, however many of the keys share it, since the locks of two descriptors
    /// exclude each other even within one thread. All callers take them in the order of their names, which
    /// prevents deadlock.
    ///
    /// - Returns: The locked files, which the caller unlocks.
    func take(_ hashes: [KeyHash]) throws(FileSystemError) -> [Descriptor] {
        let fileSystem = staging.fileSystem
        var held: [Descriptor] = []
        do {
            for name in Set(hashes.map { CacheLayout.keyLock(of: $0).string }).sorted() {
                if let file = try take(FilePath(name), waiting: true) { held.append(file) }
            }
        } catch {
            for file in held { fileSystem.unlock(file) }
            throw error
        }
        return held
    }

    /// Takes one lock. That of a file which was removed meanwhile keeps nobody out: others lock the file that took its
    /// place.
    ///
    /// - Returns: `nil` when it is held elsewhere.
    private func take(_ name: FilePath, waiting: Bool) throws(FileSystemError) -> Descriptor? {
        let fileSystem = staging.fileSystem
        while true {
            let file = try fileSystem.open(
                name, in: staging.descriptor, .createIfMissing(CacheLayout.filePermissions))
            do {
                guard try fileSystem.lock(file, waiting: waiting) else {
                    fileSystem.close(file)
                    return nil
                }
                let locked = try fileSystem.attributes(of: file).identity
                let found = try fileSystem.attributes(of: name, in: staging.descriptor)
                if found?.identity == locked { return file }
            } catch {
                fileSystem.close(file)
                throw error
            }
            fileSystem.unlock(file)
        }
    }
}

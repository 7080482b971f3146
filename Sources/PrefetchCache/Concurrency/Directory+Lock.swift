internal import FileSystem
internal import SystemPackage

extension Directory {
    /// Takes the folder's own lock (`flock`), waiting for it; unlike a lock file, it cannot be missing. It
    /// also excludes other threads, since each call opens the folder again. Where the file system does not
    /// support such locks, the call succeeds without one.
    ///
    /// - Parameters:
    ///   - patience: `nil` to not wait at all.
    ///   - what: What the lock protects, for the error.
    /// - Returns: The descriptor to unlock (``FileSystem/unlock(_:)``).
    /// - Throws: ``CacheError/busy(_:by:)`` when another process keeps it.
    func takeLock(
        _ patience: Patience?, _ mode: LockMode = .exclusive, for what: String
    ) throws(CacheError) -> Descriptor {
        let own = try onFiles { () throws(FileSystemError) in
            try fileSystem.open(".", in: descriptor, .directory)
        }
        do throws(FileSystemError) {
            func attempt() throws(FileSystemError) -> Bool {
                try fileSystem.lock(own, mode, waiting: false)
            }
            let isLocked =
                if let patience { try patience.wait(for: ["."], in: self, attempt) } else { try attempt() }
            if isLocked { return own }
        } catch {
            if error.isUnsupported { return own }
            fileSystem.close(own)
            throw .fileSystem(error)
        }
        fileSystem.close(own)
        throw .busy(what, ["."], in: self)
    }
}

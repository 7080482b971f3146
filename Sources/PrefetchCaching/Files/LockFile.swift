internal import PrefetchFileSystem
internal import SystemPackage

/// A file whose `flock` says that somebody is at work, and which may be removed or replaced between being opened and being
/// locked: by whoever has just ended that work, or by the system.
enum LockFile {
    enum Attempt {
        /// The open file under the name, whose lock ends with the descriptor.
        case locked(Descriptor)
        /// The lock is held elsewhere.
        case busy
        /// There is no such file, something that is not ours has its name, or the file system has no locks, so that it is
        /// unknown whether somebody is at work.
        case absent
    }

    /// Locks a file, without waiting.
    ///
    /// - Parameter mode: `.createIfMissing` where there need not be one.
    /// - Throws: An error whose `isHardLinked` is `true` for a file with a second name, through which others would see what
    ///   is written; `ENOENT` where the folder of a file that may be created is gone.
    static func lock(_ name: FilePath, in folder: Directory, _ mode: OpenMode = .readWrite)
        throws(FileSystemError) -> Attempt
    {
        let fileSystem = folder.fileSystem
        while true {
            let file: Descriptor
            do {
                file = try fileSystem.open(name, in: folder.descriptor, mode)
            } catch {
                guard error.isNotFound && mode == .readWrite || error.isNotRegularFile else { throw error }
                return .absent
            }
            var isKept = false
            // Unlocked as well: whoever waits for it may go on.
            defer { if !isKept { fileSystem.unlock(file) } }
            do {
                guard try fileSystem.lock(file, waiting: false) else { return .busy }
            } catch {
                guard error.isUnsupported else { throw error }
                return .absent
            }
            let found = try fileSystem.attributes(of: file)
            guard found.kind == .regular else { return .absent }
            if found.linkCount > 1 { throw FileSystemError("open", path: name, errno: .tooManyLinks) }
            isKept = found.linkCount == 1
            if isKept { return .locked(file) }
        }
    }
}

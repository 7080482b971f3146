public import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The operating system's own file system.
public struct LiveFileSystem: FileSystem {
    /// Creates the live file system, which has no state.
    public init() {}

    public var userID: UInt32 { geteuid() }

    public var descriptorLimit: Int {
        var limit = rlimit()
        // Fails only for a wrong address or resource.
        guard getrlimit(Platform.openFiles, &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    public func open(_ name: FilePath, in directory: Descriptor, _ mode: OpenMode)
        throws(FileSystemError) -> Descriptor
    {
        let (flags, permissions) = mode.flags
        do {
            let file = try Platform.retrying("open", name) {
                name.withPlatformString { openat(directory.rawValue, $0, flags | O_CLOEXEC, permissions) }
            }
            let descriptor = Descriptor(rawValue: file)
            if mode == .readWrite { try requireOneName(descriptor, name) }
            return descriptor
        } catch {
            // Only the owner of a file may open it with O_NOATIME.
            guard mode == .readUnnoticed, error.errno == .notPermitted else { throw error }
        }
        return try open(name, in: directory, .read)
    }

    /// Refuses a file with more than one name: a write would change it under the others, too.
    private func requireOneName(_ file: Descriptor, _ name: FilePath) throws(FileSystemError) {
        do throws(FileSystemError) {
            guard try attributes(of: file).linkCount > 1 else { return }
            throw FileSystemError("open", path: name, errno: .tooManyLinks)
        } catch {
            close(file)
            throw error
        }
    }

    // Errors of close are not reported: the descriptor is gone either way, and every path that
    // promises durability has synchronised before.
    public func close(_ file: Descriptor) {
        #if canImport(Darwin)
            _ = Darwin.close(file.rawValue)
        #else
            _ = Glibc.close(file.rawValue)
        #endif
    }

    public func read(_ file: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        try Platform.retrying("read") {
            pread(file.rawValue, buffer.baseAddress, buffer.count, off_t(offset))
        }
    }

    public func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        try Platform.retrying("write") {
            pwrite(file.rawValue, bytes.baseAddress, bytes.count, off_t(offset))
        }
    }

    public func resize(_ file: Descriptor, to length: Int64) throws(FileSystemError) {
        _ = try Platform.retrying("ftruncate") { ftruncate(file.rawValue, off_t(length)) }
    }

    public func synchronize(_ file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fsync") { Platform.synchronize(file.rawValue) }
    }

    public func allocate(_ length: Int64, for file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fallocate") { Platform.allocate(length, for: file.rawValue) }
    }

    public func lock(_ file: Descriptor, _ mode: LockMode, waiting: Bool) throws(FileSystemError) -> Bool {
        let operation = mode == .exclusive ? LOCK_EX : LOCK_SH
        do {
            _ = try Platform.retrying("flock") {
                flock(file.rawValue, waiting ? operation : operation | LOCK_NB)
            }
            return true
        } catch {
            if error.errno == .wouldBlock { return false }
            throw error
        }
    }

    public func unlock(_ file: Descriptor) {
        // A failure means that there was no lock.
        _ = flock(file.rawValue, LOCK_UN)
        close(file)
    }
}

extension OpenMode {
    /// The flags of `open`, and the permissions of a file that it creates.
    fileprivate var flags: (CInt, mode_t) {
        switch self {
        // Without O_NONBLOCK, opening a pipe in place of a file would block for ever.
        case .read: (O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        case .readUnnoticed: (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | Platform.withoutAccessTime, 0)
        case .readFollowingLinks: (O_RDONLY, 0)
        case .readFollowingLinksWithoutWaiting: (O_RDONLY | O_NONBLOCK, 0)
        case .readWrite: (O_RDWR | O_NOFOLLOW, 0)
        case .createNew(let permissions):
            (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode_t(permissions.rawValue))
        case .createIfMissing(let permissions):
            (O_RDWR | O_CREAT | O_NOFOLLOW, mode_t(permissions.rawValue))
        case .directory: (O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        case .directoryFollowingLinks: (O_RDONLY | O_DIRECTORY, 0)
        }
    }
}

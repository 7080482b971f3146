package import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The operating system's file system. It has no state.
package struct LiveFileSystem: FileSystem {
    package init() {}

    package var userID: UInt32 { geteuid() }

    package var descriptorLimit: Int {
        var limit = rlimit()
        // Fails only for an invalid address or resource.
        guard getrlimit(Platform.openFiles, &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    package func open(_ name: FilePath, in directory: Descriptor, _ mode: OpenMode)
        throws(FileSystemError) -> Descriptor
    {
        let (flags, permissions) = mode.flags
        func open(_ flags: CInt) throws(FileSystemError) -> Descriptor {
            Descriptor(
                rawValue: try Platform.retrying("open", name) {
                    name.withPlatformString { openat(directory.rawValue, $0, flags | O_CLOEXEC, permissions) }
                })
        }
        do {
            let descriptor = try open(flags)
            if mode == .readWrite { try requireSingleLink(descriptor, name) }
            return descriptor
        } catch {
            // That is permitted only to the owner of the file.
            guard flags & Platform.withoutAccessTime != 0, error.errno == .notPermitted else { throw error }
            return try open(flags & ~Platform.withoutAccessTime)
        }
    }

    /// Refuses a file with more than one hard link: a write would change it under its other names, too.
    private func requireSingleLink(_ file: Descriptor, _ name: FilePath) throws(FileSystemError) {
        do throws(FileSystemError) {
            guard try attributes(of: file).linkCount > 1 else { return }
            throw FileSystemError("open", path: name, errno: .tooManyLinks)
        } catch {
            close(file)
            throw error
        }
    }

    // Errors from close are ignored: the descriptor is invalid either way, and every path that promises durability has
    // synchronised before.
    package func close(_ file: Descriptor) {
        #if canImport(Darwin)
            _ = Darwin.close(file.rawValue)
        #else
            _ = Glibc.close(file.rawValue)
        #endif
    }

    package func read(_ file: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        try Platform.retrying("read") {
            pread(file.rawValue, buffer.baseAddress, buffer.count, off_t(offset))
        }
    }

    package func readIfInMemory(
        _ name: FilePath, in directory: Descriptor, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int? {
        do throws(FileSystemError) {
            return try Platform.retrying("openat2", name) {
                name.withPlatformString { Platform.readIfInMemory(directory.rawValue, $0, buffer) }
            }
        } catch {
            guard error.errno == .resourceTemporarilyUnavailable else { throw error }
            return nil
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        try Platform.retrying("write") {
            pwrite(file.rawValue, bytes.baseAddress, bytes.count, off_t(offset))
        }
    }

    package func resize(_ file: Descriptor, to length: Int64) throws(FileSystemError) {
        _ = try Platform.retrying("ftruncate") { ftruncate(file.rawValue, off_t(length)) }
    }

    package func beginsWithHole(_ file: Descriptor) throws(FileSystemError) -> Bool {
        do {
            return try Platform.retrying("lseek") { lseek(file.rawValue, 0, Platform.seekHole) } == 0
        } catch {
            // `ENXIO`: the file is empty.
            guard error.isUnsupported || error.errno == .noSuchAddressOrDevice else { throw error }
            return false
        }
    }

    package func synchronize(_ file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fsync") { Platform.synchronize(file.rawValue) }
    }

    package func order(_ file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fsync") { Platform.order(file.rawValue) }
    }

    package func startWriting(_ file: Descriptor) {
        // The flush reports an error.
        _ = Platform.startWriting(file.rawValue)
    }

    package func synchronizeVolume(of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("syncfs") { Platform.synchronizeVolume(file.rawValue) }
        // XFS continues to free space in the background, and no call waits for it.
        var (available, idle, attempts) = (try volume(of: file).available, 0, 0)
        while idle < 4, attempts < 200 {
            attempts += 1
            _ = usleep(1000)
            let now = try volume(of: file).available
            idle = now > available ? 0 : idle + 1
            available = max(available, now)
        }
    }

    package func allocate(_ length: Int64, for file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fallocate") { Platform.allocate(length, for: file.rawValue) }
    }

    package func lock(_ file: Descriptor, _ mode: LockMode, waiting: Bool) throws(FileSystemError) -> Bool {
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

    package func isBeingWritten(_ file: Descriptor) throws(FileSystemError) -> Bool? {
        do {
            return try Platform.retrying("fcntl") { Platform.isBeingWritten(file.rawValue) } == 1
        } catch {
            // Leases are permitted only to the file's owner, and not supported by all file systems.
            guard error.isNotPermitted || error.isUnsupported else { throw error }
            return nil
        }
    }

    package func unlock(_ file: Descriptor) {
        // Fails only if there was no lock.
        _ = flock(file.rawValue, LOCK_UN)
        close(file)
    }

    package func makeDirectory(_ name: FilePath, in directory: Descriptor, permissions: FilePermissions)
        throws(FileSystemError) -> Bool
    {
        do {
            _ = try Platform.retrying("mkdir", name) {
                name.withPlatformString { mkdirat(directory.rawValue, $0, mode_t(permissions.rawValue)) }
            }
            return true
        } catch {
            if error.errno == .fileExists { return false }
            throw error
        }
    }

    /// The absolute path of a file or folder, without symbolic links, `.` and `..` (`realpath`).
    package func resolved(_ path: FilePath) throws(FileSystemError) -> FilePath {
        guard let resolved = path.withPlatformString({ realpath($0, nil) }) else {
            throw FileSystemError("realpath", path: path, errno: Platform.lastError)
        }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }

    #if canImport(Darwin)
        /// The path of an open file (`fcntl` with `F_GETPATH`). To be used at once: it can change.
        package func path(of file: Descriptor) throws(FileSystemError) -> FilePath {
            var buffer = [UInt8](repeating: 0, count: Int(MAXPATHLEN))
            let result = buffer.withUnsafeMutableBytes { bytes -> CInt in
                guard let start = bytes.baseAddress else { return -1 }
                return fcntl(file.rawValue, F_GETPATH, start)
            }
            guard result != -1 else { throw FileSystemError("fcntl", errno: Platform.lastError) }
            return FilePath(String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self))
        }
    #endif

    package func requireWritable(_ directory: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("access") {
            faccessat(directory.rawValue, ".", W_OK | X_OK, CInt(AT_EACCESS))
        }
    }

    package func rename(
        _ name: FilePath, in directory: Descriptor, to newName: FilePath, in newDirectory: Descriptor,
        _ mode: RenameMode
    ) throws(FileSystemError) {
        do {
            _ = try Platform.retrying("rename", newName) {
                name.withPlatformString { old in
                    newName.withPlatformString { new in
                        Platform.rename(directory.rawValue, old, newDirectory.rawValue, new, mode)
                    }
                }
            }
        } catch {
            // File systems without the flag (some FUSE and network ones) return EINVAL or ENOTSUP. Fall back to a
            // hard link, which also fails if the name exists, and unlink the old name afterwards.
            guard mode == .exclusive, error.errno == .invalidArgument || error.errno == .notSupported
            else { throw error }
            do throws(FileSystemError) {
                _ = try Platform.retrying("link", newName) {
                    name.withPlatformString { old in
                        newName.withPlatformString { new in
                            linkat(directory.rawValue, old, newDirectory.rawValue, new, 0)
                        }
                    }
                }
            } catch let failure {
                // Without hard link support, the original error is the relevant one: it may be about the name.
                let lacksHardLinks: [Errno] = [.notPermitted, .notSupported, .noFunction, .tooManyLinks]
                throw lacksHardLinks.contains(failure.errno) ? error : failure
            }
            try unlink(name, in: directory)
        }
    }

    package func clone(
        _ file: Descriptor, to name: FilePath, in directory: Descriptor, permissions: FilePermissions
    ) throws(FileSystemError) {
        _ = try Platform.retrying("clone", name) {
            name.withPlatformString {
                Platform.clone(file.rawValue, directory.rawValue, $0, mode_t(permissions.rawValue))
            }
        }
    }

    package func unlink(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("unlink", name) {
            name.withPlatformString { unlinkat(directory.rawValue, $0, 0) }
        }
    }

    package func removeDirectory(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("rmdir", name) {
            name.withPlatformString { unlinkat(directory.rawValue, $0, CInt(AT_REMOVEDIR)) }
        }
    }

    package func entries(of directory: Descriptor) throws(FileSystemError) -> [DirectoryEntry] {
        // The stream takes ownership of its descriptor and moves its offset, so it needs a separate one.
        let own = try open(".", in: directory, .directory)
        guard let stream = fdopendir(own.rawValue) else {
            defer { close(own) }
            throw FileSystemError("fdopendir", errno: Platform.lastError)
        }
        defer { closedir(stream) }

        var entries: [DirectoryEntry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                let error = Platform.lastError
                guard error.rawValue == 0 else { throw FileSystemError("readdir", errno: error) }
                return entries
            }
            let text = Platform.name(of: entry)
            // Compared as C strings, which is cheaper than creating paths first.
            guard strcmp(text, ".") != 0, strcmp(text, "..") != 0,
                let name = FilePath.Component(platformString: text)
            else { continue }
            entries.append(DirectoryEntry(name: name, kind: Self.kind(CInt(entry.pointee.d_type))))
        }
    }

    private static func kind(_ type: CInt) -> FileAttributes.Kind? {
        switch type {
        case CInt(DT_REG): .regular
        case CInt(DT_DIR): .directory
        case CInt(DT_LNK): .symbolicLink
        case CInt(DT_UNKNOWN): nil
        default: .other
        }
    }

    package func attributes(of file: Descriptor) throws(FileSystemError) -> FileAttributes {
        var status = stat()
        _ = try Platform.retrying("fstat") { fstat(file.rawValue, &status) }
        return FileAttributes(status)
    }

    package func attributes(of name: FilePath, in directory: Descriptor)
        throws(FileSystemError) -> FileAttributes?
    {
        var status = stat()
        do {
            _ = try Platform.retrying("stat", name) {
                name.withPlatformString {
                    fstatat(directory.rawValue, $0, &status, CInt(AT_SYMLINK_NOFOLLOW))
                }
            }
            return FileAttributes(status)
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    package func lengthAndLinks(of file: Descriptor) throws(FileSystemError) -> (
        length: Int64, linkCount: UInt64
    ) {
        var (length, links): (Int64, UInt64) = (0, 0)
        _ = try Platform.retrying("statx") { Platform.lengthAndLinks(file.rawValue, &length, &links) }
        return (length, links)
    }

    package func inode(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> UInt64? {
        var inode: UInt64 = 0
        do {
            _ = try Platform.retrying("statx", name) {
                name.withPlatformString { Platform.inode(directory.rawValue, $0, &inode) }
            }
            return inode
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    package func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        var time: Int64 = 0
        let isKnown = try Platform.retrying("statx") { Platform.birthTime(file.rawValue, &time) }
        return isKnown == 1 ? time : nil
    }

    package func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        var status = stat()
        _ = try Platform.retrying("fstat") { fstat(file.rawValue, &status) }
        return Platform.accessed(status)
    }

    package func setOwner(_ owner: UInt32, group: UInt32, of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fchown") { fchown(file.rawValue, owner, group) }
    }

    package func setPermissions(_ permissions: FilePermissions, of file: Descriptor)
        throws(FileSystemError)
    {
        _ = try Platform.retrying("fchmod") { fchmod(file.rawValue, mode_t(permissions.rawValue)) }
    }

    package func protection(of file: Descriptor) throws(FileSystemError) -> FileProtection? {
        do {
            return Platform.protection(
                try Platform.retrying("fcntl") { Platform.protectionClass(file.rawValue) })
        } catch {
            guard error.isUnsupported else { throw error }
            return nil
        }
    }

    package func setProtection(_ protection: FileProtection, of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fcntl") { Platform.setProtection(protection, of: file.rawValue) }
    }

    package func extendedAttribute(_ name: String, of file: Descriptor) throws(FileSystemError) -> [UInt8]? {
        do {
            return try extendedAttribute(name, of: file, atMost: 256)
        } catch {
            switch error.errno {
            case Platform.noSuchAttribute: return nil
            // Linux limits an attribute to 64 KiB (XATTR_SIZE_MAX).
            case .outOfRange: return try extendedAttribute(name, of: file, atMost: 1 << 16)
            default: throw error
            }
        }
    }

    private func extendedAttribute(_ name: String, of file: Descriptor, atMost limit: Int)
        throws(FileSystemError) -> [UInt8]
    {
        var value = [UInt8](repeating: 0, count: limit)
        let count = try value.withMutableBytes { buffer throws(FileSystemError) in
            try Platform.retrying("fgetxattr") { Platform.getAttribute(file.rawValue, name, buffer) }
        }
        value.removeLast(limit - count)
        return value
    }

    package func setExtendedAttribute(_ name: String, to value: [UInt8]?, of file: Descriptor)
        throws(FileSystemError)
    {
        guard let value else {
            do {
                _ = try Platform.retrying("fremovexattr") { Platform.removeAttribute(file.rawValue, name) }
            } catch {
                if error.errno != Platform.noSuchAttribute { throw error }
            }
            return
        }
        _ = try Platform.retrying("fsetxattr") {
            value.withUnsafeBytes { Platform.setAttribute(file.rawValue, name, $0) }
        }
    }

    package func setNoDump(_ enabled: Bool, of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("set no-dump flag") { Platform.setNoDump(file.rawValue, enabled) }
    }

    package func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try Platform.retrying("get no-dump flag") { Platform.isNoDump(file.rawValue) } == 1
    }

    package func volume(of file: Descriptor) throws(FileSystemError) -> VolumeFigures {
        var figures = VolumeFigures(total: 0, available: 0, blockSize: 0)
        _ = try Platform.retrying("statfs") { Platform.volume(file.rawValue, &figures) }
        return figures
    }
}

extension OpenMode {
    /// The flags for `open`, and the permissions of a created file.
    fileprivate var flags: (CInt, mode_t) {
        switch self {
        // O_NONBLOCK: otherwise opening a named pipe in place of a file would block forever.
        case .read: (O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        case .readWithoutAccessTime: (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | Platform.withoutAccessTime, 0)
        case .readFollowingLinks: (O_RDONLY, 0)
        case .readFollowingLinksWithoutWaiting: (O_RDONLY | O_NONBLOCK, 0)
        case .readWrite: (O_RDWR | O_NOFOLLOW, 0)
        case .createNew(let permissions):
            (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode_t(permissions.rawValue))
        case .createIfMissing(let permissions):
            (O_RDWR | O_CREAT | O_NOFOLLOW, mode_t(permissions.rawValue))
        case .directory: (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | Platform.withoutAccessTime, 0)
        case .directoryFollowingLinks: (O_RDONLY | O_DIRECTORY | Platform.withoutAccessTime, 0)
        }
    }
}

extension FileAttributes {
    fileprivate init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        self.init(
            kind: kind,
            identity: Identity(
                device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino)),
            length: Int64(status.st_size),
            allocated: Int64(status.st_blocks) * 512,
            linkCount: UInt64(status.st_nlink),
            owner: status.st_uid,
            group: status.st_gid,
            permissions: FilePermissions(
                rawValue: CInterop.Mode(truncatingIfNeeded: status.st_mode & 0o7777)),
            modified: Platform.modified(status), changed: Platform.changed(status),
            isDataless: Platform.isDataless(status))
    }
}

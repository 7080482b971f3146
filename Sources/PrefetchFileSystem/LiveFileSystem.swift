internal import CPrefetchPlatform
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
            return try Platform.retrying("lseek") { lseek(file.rawValue, 0, cplatform_seek_hole) } == 0
        } catch {
            // `ENXIO`: the file is empty.
            guard error.isUnsupported || error.errno == .noSuchAddressOrDevice else { throw error }
            return false
        }
    }

    package func data(of file: Descriptor, from offset: Int64) throws(FileSystemError) -> Range<Int64>? {
        let length = try attributes(of: file).length
        guard offset < length else { return nil }
        do {
            func seek(_ offset: Int64, _ way: CInt) throws(FileSystemError) -> Int64 {
                Int64(try Platform.retrying("lseek") { lseek(file.rawValue, off_t(offset), way) })
            }
            let start = try seek(offset, cplatform_seek_data)
            return start..<(try seek(start, cplatform_seek_hole))
        } catch {
            // Only a hole follows.
            if error.errno == .noSuchAddressOrDevice { return nil }
            guard error.isUnsupported else { throw error }
            return offset..<length
        }
    }

    package func punchHole(_ range: Range<Int64>, in file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fallocate") {
            cplatform_punch_hole(file.rawValue, off_t(range.lowerBound), off_t(range.count))
        }
    }

    package func synchronize(_ file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fsync") { cplatform_synchronize(file.rawValue) }
    }

    package func synchronizeVolume(of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("syncfs") { cplatform_sync_volume(file.rawValue) }
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
        _ = try Platform.retrying("fallocate") { cplatform_allocate(file.rawValue, off_t(length)) }
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

    package func unlock(_ file: Descriptor) {
        // These fail only if there was no lock.
        _ = flock(file.rawValue, LOCK_UN)
        _ = cplatform_unlock_bytes(file.rawValue)
        close(file)
    }

    package func lockByte(_ position: Int64, of file: Descriptor) throws(FileSystemError) -> Bool {
        do {
            _ = try Platform.retrying("fcntl") { cplatform_lock_byte(file.rawValue, off_t(position)) }
            return true
        } catch {
            if error.errno == .wouldBlock { return false }
            throw error
        }
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
                        cplatform_rename(
                            directory.rawValue, old, newDirectory.rawValue, new, mode.platformMode)
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
                cplatform_clone(file.rawValue, directory.rawValue, $0, mode_t(permissions.rawValue))
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
        FileAttributes(try status("fstat", of: file))
    }

    package func attributes(of name: FilePath, in directory: Descriptor)
        throws(FileSystemError) -> FileAttributes?
    {
        try status("stat", of: name, in: directory).map(FileAttributes.init)
    }

    package func lengthAndLinks(of file: Descriptor) throws(FileSystemError) -> (
        length: Int64, linkCount: UInt64
    ) {
        let status = try status("statx", of: file, cplatform_length_and_links)
        return (status.length, status.links)
    }

    package func inode(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> UInt64? {
        try status("statx", of: name, in: directory, cplatform_inode)?.inode
    }

    package func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        let status = try status("statx", of: file, cplatform_birth)
        return status.has_birth ? status.born : nil
    }

    package func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        try status("fstat", of: file).accessed
    }

    private func status(
        _ operation: StaticString, of file: Descriptor, _ question: cplatform_question = cplatform_all
    ) throws(FileSystemError) -> cplatform_status {
        var status = cplatform_status()
        _ = try Platform.retrying(operation) { cplatform_status_of(file.rawValue, nil, question, &status) }
        return status
    }

    private func status(
        _ operation: StaticString, of name: FilePath, in directory: Descriptor,
        _ question: cplatform_question = cplatform_all
    ) throws(FileSystemError) -> cplatform_status? {
        var status = cplatform_status()
        do {
            _ = try Platform.retrying(operation, name) {
                name.withPlatformString { cplatform_status_of(directory.rawValue, $0, question, &status) }
            }
            return status
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    package func setTimes(accessed: Int64, modified: Int64?, of file: Descriptor) throws(FileSystemError) {
        let unchanged = timespec(tv_sec: 0, tv_nsec: cplatform_utime_omit)
        let times = [timespec(nanoseconds: accessed), modified.map(timespec.init(nanoseconds:)) ?? unchanged]
        _ = try Platform.retrying("futimens") { futimens(file.rawValue, times) }
    }

    package func setPermissions(_ permissions: FilePermissions, of file: Descriptor)
        throws(FileSystemError)
    {
        _ = try Platform.retrying("fchmod") { fchmod(file.rawValue, mode_t(permissions.rawValue)) }
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
            try Platform.retrying("fgetxattr") {
                fgetxattr(file.rawValue, name, buffer.baseAddress, buffer.count)
            }
        }
        value.removeLast(limit - count)
        return value
    }

    package func setExtendedAttribute(_ name: String, to value: [UInt8]?, of file: Descriptor)
        throws(FileSystemError)
    {
        guard let value else {
            do {
                _ = try Platform.retrying("fremovexattr") { fremovexattr(file.rawValue, name) }
            } catch {
                if error.errno != Platform.noSuchAttribute { throw error }
            }
            return
        }
        _ = try Platform.retrying("fsetxattr") {
            fsetxattr(file.rawValue, name, value, value.count, 0)
        }
    }

    package func extendedAttributes(of file: Descriptor) throws(FileSystemError) -> [String] {
        // Linux limits all names together to 64 KiB (XATTR_LIST_MAX).
        var names = [UInt8](repeating: 0, count: 1 << 16)
        let count: Int
        do {
            count = try names.withMutableBytes { buffer throws(FileSystemError) in
                try Platform.retrying("flistxattr") {
                    flistxattr(file.rawValue, buffer.baseAddress, buffer.count)
                }
            }
        } catch {
            guard error.isUnsupported else { throw error }
            return []
        }
        return names.prefix(count).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            .filter(Platform.isOfUser)
    }

    package func setNoDump(_ enabled: Bool, of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("set no-dump flag") { cplatform_set_no_dump(file.rawValue, enabled) }
    }

    package func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try Platform.retrying("get no-dump flag") { cplatform_get_no_dump(file.rawValue) } == 1
    }

    package func volume(of file: Descriptor) throws(FileSystemError) -> VolumeFigures {
        #if canImport(Darwin)
            // Not `fstatvfs`, which counts blocks in 32 bits: a volume of 16 TiB would appear empty.
            var status = statfs()
            _ = try Platform.retrying("statfs") { fstatfs(file.rawValue, &status) }
            let blockSize = status.f_bsize
        #else
            var status = statvfs()
            _ = try Platform.retrying("statfs") { fstatvfs(file.rawValue, &status) }
            let blockSize = status.f_frsize == 0 ? status.f_bsize : status.f_frsize
        #endif
        return VolumeFigures(
            blocks: Int64(clamping: status.f_blocks), available: Int64(clamping: status.f_bavail),
            ofBytes: Int64(clamping: blockSize))
    }
}

extension RenameMode {
    fileprivate var platformMode: cplatform_rename_mode {
        switch self {
        case .replacing: cplatform_replacing
        case .exclusive: cplatform_exclusive
        case .exchanging: cplatform_exchanging
        }
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
    fileprivate init(_ status: cplatform_status) {
        let kind: Kind =
            switch mode_t(truncatingIfNeeded: status.mode) & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        self.init(
            kind: kind, identity: Identity(device: status.device, inode: status.inode),
            length: status.length, allocated: status.allocated, linkCount: status.links,
            owner: status.owner,
            permissions: FilePermissions(rawValue: CInterop.Mode(truncatingIfNeeded: status.mode & 0o7777)),
            modified: status.modified, changed: status.changed, isDataless: status.is_dataless)
    }
}

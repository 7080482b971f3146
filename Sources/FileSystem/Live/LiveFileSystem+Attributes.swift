public import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension LiveFileSystem {
    public func attributes(of file: Descriptor) throws(FileSystemError) -> FileAttributes {
        var status = stat()
        _ = try Platform.retrying("fstat") { fstat(file.rawValue, &status) }
        return FileAttributes(status)
    }

    public func attributes(of name: FilePath, in directory: Descriptor)
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

    public func inode(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> UInt64? {
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

    public func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        var time: Int64 = 0
        let isKnown = try Platform.retrying("statx") { Platform.birthTime(file.rawValue, &time) }
        return isKnown == 1 ? time : nil
    }

    public func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64? {
        var status = stat()
        _ = try Platform.retrying("fstat") { fstat(file.rawValue, &status) }
        return Platform.accessed(status)
    }

    public func setAccessTime(_ time: Int64, of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("futimens") { Platform.setAccessTime(file.rawValue, time) }
    }

    public func setOwner(_ owner: UInt32, group: UInt32, of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("fchown") { fchown(file.rawValue, owner, group) }
    }

    public func setPermissions(_ permissions: FilePermissions, of file: Descriptor)
        throws(FileSystemError)
    {
        _ = try Platform.retrying("fchmod") { fchmod(file.rawValue, mode_t(permissions.rawValue)) }
    }

    public func extendedAttribute(_ name: String, of file: Descriptor) throws(FileSystemError) -> [UInt8]? {
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

    public func setExtendedAttribute(_ name: String, to value: [UInt8]?, of file: Descriptor)
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

    public func setNoDump(_ enabled: Bool, of file: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("set no-dump flag") { Platform.setNoDump(file.rawValue, enabled) }
    }

    public func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool {
        try Platform.retrying("get no-dump flag") { Platform.isNoDump(file.rawValue) } == 1
    }

    public func volume(of file: Descriptor) throws(FileSystemError) -> VolumeFigures {
        var status = statvfs()
        _ = try Platform.retrying("fstatvfs") { fstatvfs(file.rawValue, &status) }
        let unit = Int64(clamping: status.f_frsize == 0 ? status.f_bsize : status.f_frsize)
        return VolumeFigures(
            total: Int64(clamping: status.f_blocks).multipliedClamping(by: unit),
            available: Int64(clamping: status.f_bavail).multipliedClamping(by: unit),
            blockSize: unit)
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
            modified: Platform.modified(status))
    }
}

extension Int64 {
    fileprivate func multipliedClamping(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}

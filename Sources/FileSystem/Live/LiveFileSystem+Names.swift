public import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension LiveFileSystem {
    public func makeDirectory(_ name: FilePath, in directory: Descriptor, permissions: FilePermissions)
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

    /// The absolute path of a file or folder, without links, `.` and `..` (`realpath`).
    package func resolved(_ path: FilePath) throws(FileSystemError) -> FilePath {
        guard let resolved = path.withPlatformString({ realpath($0, nil) }) else {
            throw FileSystemError("realpath", path: path, errno: Platform.lastError)
        }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }

    public func requireWritable(_ directory: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("access") {
            faccessat(directory.rawValue, ".", W_OK | X_OK, CInt(AT_EACCESS))
        }
    }

    public func rename(
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
            // File systems without the flag (some FUSE and network ones) answer EINVAL or ENOTSUP.
            // Creating a hard link also refuses an existing name; the old name is removed afterwards.
            guard mode == .exclusive, error.errno == .invalidArgument || error.errno == .notSupported
            else { throw error }
            do throws(FileSystemError) {
                try link(name, in: directory, to: newName, in: newDirectory)
            } catch let failure {
                // One that has no links either may know the flag, and have refused the name.
                throw failure.isMissingLinks ? error : failure
            }
            try unlink(name, in: directory)
        }
    }

    private func link(
        _ name: FilePath, in directory: Descriptor, to newName: FilePath, in newDirectory: Descriptor
    ) throws(FileSystemError) {
        _ = try Platform.retrying("link", newName) {
            name.withPlatformString { old in
                newName.withPlatformString { new in
                    linkat(directory.rawValue, old, newDirectory.rawValue, new, 0)
                }
            }
        }
    }

    public func unlink(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("unlink", name) {
            name.withPlatformString { unlinkat(directory.rawValue, $0, 0) }
        }
    }

    public func removeDirectory(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        _ = try Platform.retrying("rmdir", name) {
            name.withPlatformString { unlinkat(directory.rawValue, $0, CInt(AT_REMOVEDIR)) }
        }
    }

    public func entries(of directory: Descriptor) throws(FileSystemError) -> [DirectoryEntry] {
        // The stream takes over its descriptor and moves its offset, so it gets a separate one.
        let own = try open(".", in: directory, .directory)
        guard let stream = fdopendir(own.rawValue) else {
            let error = Platform.lastError
            close(own)
            throw FileSystemError("fdopendir", errno: error)
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
            // Cheaper than creating the paths first.
            guard strcmp(text, ".") != 0, strcmp(text, "..") != 0,
                let name = FilePath(platformString: text).lastComponent
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
}

extension FileSystemError {
    /// Whether the file system has no hard links: `EPERM`, `ENOTSUP`, `ENOSYS` or `EMLINK`.
    fileprivate var isMissingLinks: Bool {
        errno == .notPermitted || errno == .notSupported || errno == .noFunction || errno == .tooManyLinks
    }
}

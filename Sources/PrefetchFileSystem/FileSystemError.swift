package import SystemPackage

/// A failed system call: its name, its path, and the kernel's error number.
public struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the system call, as in its manual page.
    public let operation: String
    /// The path passed to the call, if any.
    package let path: FilePath?
    /// The kernel's error number.
    package let errno: Errno

    /// The raw error number, such as `ENOSPC`.
    public var code: CInt { errno.rawValue }

    /// Creates an error for the system call `operation`.
    package init(_ operation: String, path: FilePath? = nil, errno: Errno) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// The same error with `path`, unless it already has one: calls on descriptors have none.
    package func naming(_ path: FilePath) -> FileSystemError {
        self.path == nil ? FileSystemError(operation, path: path, errno: errno) : self
    }

    /// Whether the volume, or the user's quota on it, is full: `ENOSPC` or `EDQUOT`.
    package var isOutOfSpace: Bool {
        errno == .noSpace || errno == .diskQuotaExceeded
    }

    /// Whether the volume is read-only: `EROFS`.
    package var isReadOnlyVolume: Bool { errno == .readOnlyFileSystem }

    /// Whether permission is missing: `EACCES`, `EPERM` or `EROFS`.
    package var isNotPermitted: Bool {
        errno == .permissionDenied || errno == .notPermitted || errno == .readOnlyFileSystem
    }

    /// Whether the name does not exist: `ENOENT`.
    package var isNotFound: Bool {
        errno == .noSuchFileOrDirectory
    }

    /// Whether the file was refused because it has more than one hard link: `EMLINK`.
    package var isHardLinked: Bool { errno == .tooManyLinks }

    /// Whether the name is something other than a regular file, such as a symbolic link, a folder or a pipe: `ELOOP`,
    /// `EISDIR`, `ENOTDIR`, `ESPIPE`, `ENXIO`, or `EAGAIN` for an empty pipe.
    package var isNotRegularFile: Bool {
        switch errno {
        case .tooManySymbolicLinkLevels, .isDirectory, .notDirectory, .illegalSeek, .noSuchAddressOrDevice,
            .resourceTemporarilyUnavailable:
            true
        default: false
        }
    }

    /// Whether the file system does not support the call: `ENOTSUP`, `EOPNOTSUPP`, `ENOTTY`, `ENOLCK` or
    /// `EINVAL`.
    package var isUnsupported: Bool {
        switch errno {
        case .notSupported, .notSupportedOnSocket, .inappropriateIOCTLForDevice, .noLocks, .invalidArgument:
            true
        default: false
        }
    }

    public var description: String {
        guard let path else { return "\(operation): \(errno)" }
        return "\(operation) \(path): \(errno)"
    }
}

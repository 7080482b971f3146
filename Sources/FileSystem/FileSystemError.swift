public import SystemPackage

/// A system call that failed: which, on what, and the reason that the kernel gave.
public struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system call, by its name in the manual.
    public let operation: String
    /// The name or path the call was about, when it had one.
    public let path: FilePath?
    /// The kernel's reason.
    public let errno: Errno

    public init(_ operation: String, path: FilePath? = nil, errno: Errno) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// The same error, about `path` unless it names one already: a call on a descriptor names none.
    public func naming(_ path: FilePath) -> FileSystemError {
        self.path == nil ? FileSystemError(operation, path: path, errno: errno) : self
    }

    /// The volume, or the user's share of it, is full: `ENOSPC` or `EDQUOT`.
    public var isOutOfSpace: Bool {
        errno == .noSpace || errno == .diskQuotaExceeded
    }

    /// The caller is not allowed: `EACCES`, `EPERM` or `EROFS`.
    public var isNotPermitted: Bool {
        errno == .permissionDenied || errno == .notPermitted || errno == .readOnlyFileSystem
    }

    /// There is nothing under that name.
    public var isNotFound: Bool {
        errno == .noSuchFileOrDirectory
    }

    /// The file has another name as well, and is not written to.
    package var isOfSecondName: Bool { errno == .tooManyLinks }

    /// What lies under that name is no regular file but a link, a folder, a pipe or the like: `ELOOP`,
    /// `EISDIR`, `ENOTDIR`, `ESPIPE`, `ENXIO`, or `EAGAIN` of an empty pipe.
    public var isNoRegularFile: Bool {
        switch errno {
        case .tooManySymbolicLinkLevels, .isDirectory, .notDirectory, .illegalSeek, .noSuchAddressOrDevice,
            .resourceTemporarilyUnavailable:
            true
        default: false
        }
    }

    /// The file system has no such thing: `ENOTSUP`, `EOPNOTSUPP`, `ENOTTY`, `ENOLCK` or `EINVAL`.
    public var isUnsupported: Bool {
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

public import SystemPackage

/// A failed system call: its name, the path it was about, and the kernel's reason.
public struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the system call, as in the manual.
    public let operation: String
    /// The name or path that the call was about, if any.
    public let path: FilePath?
    /// The kernel's reason.
    public let errno: Errno

    /// Creates an error of the system call `operation`.
    public init(_ operation: String, path: FilePath? = nil, errno: Errno) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// The same error about `path`, unless it names a path already: a call on a descriptor names none.
    public func naming(_ path: FilePath) -> FileSystemError {
        self.path == nil ? FileSystemError(operation, path: path, errno: errno) : self
    }

    /// Whether the volume, or the user's quota on it, is full: `ENOSPC` or `EDQUOT`.
    public var isOutOfSpace: Bool {
        errno == .noSpace || errno == .diskQuotaExceeded
    }

    /// Whether the volume takes no writes: `EROFS`.
    public var isReadOnlyVolume: Bool { errno == .readOnlyFileSystem }

    /// Whether permission is missing: `EACCES`, `EPERM` or `EROFS`.
    public var isNotPermitted: Bool {
        errno == .permissionDenied || errno == .notPermitted || errno == .readOnlyFileSystem
    }

    /// Whether there is nothing under the name: `ENOENT`.
    public var isNotFound: Bool {
        errno == .noSuchFileOrDirectory
    }

    /// Whether the file was refused because it has a second name: `EMLINK`.
    package var isOfSecondName: Bool { errno == .tooManyLinks }

    /// Whether the name belongs to something other than a regular file, such as a link, a folder or a
    /// pipe: `ELOOP`, `EISDIR`, `ENOTDIR`, `ESPIPE`, `ENXIO`, or `EAGAIN` of an empty pipe.
    public var isNoRegularFile: Bool {
        switch errno {
        case .tooManySymbolicLinkLevels, .isDirectory, .notDirectory, .illegalSeek, .noSuchAddressOrDevice,
            .resourceTemporarilyUnavailable:
            true
        default: false
        }
    }

    /// Whether the file system does not support the call: `ENOTSUP`, `EOPNOTSUPP`, `ENOTTY`, `ENOLCK` or
    /// `EINVAL`.
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

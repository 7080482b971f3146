public import SystemPackage

/// An open file or folder of a ``FileSystem``. It has no methods, so that no call can bypass the
/// seam.
public struct Descriptor: RawRepresentable, Hashable, Sendable {
    /// The number of the file descriptor.
    public let rawValue: CInt

    /// Wraps the number of an open file descriptor, without taking ownership of it.
    public init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// The working directory of the process (`AT_FDCWD`), for paths that the user gave.
    public static let workingDirectory = Descriptor(rawValue: Platform.workingDirectory)
}

/// How ``FileSystem/open(_:in:_:)`` opens a name.
public enum OpenMode: Sendable, Hashable {
    /// For reading; a symbolic link is refused.
    case read
    /// For reading without changing the access time (`O_NOATIME`), where the system permits that; a
    /// symbolic link is refused.
    case readUnnoticed
    /// For reading a file that the user named: symbolic links are followed.
    case readFollowingLinks
    /// For reading a regular file that the user named: symbolic links are followed, and opening a pipe
    /// does not wait for its other end.
    case readFollowingLinksWithoutWaiting
    /// For reading and writing an existing file; a symbolic link is refused, and so is a file with a
    /// second name (`EMLINK`).
    case readWrite
    /// For reading and writing a file that must not exist yet (`O_CREAT | O_EXCL`).
    case createNew(FilePermissions)
    /// For reading and writing a file, which is created if missing; a symbolic link is refused. A second
    /// name is allowed, unlike with ``readWrite``: it does a lock file no harm.
    case createIfMissing(FilePermissions)
    /// An existing folder; a symbolic link is refused.
    case directory
    /// An existing folder at a path that the user or the platform named: links are followed.
    case directoryFollowingLinks
}

/// What ``FileSystem/rename(_:in:to:in:_:)`` does when the new name exists.
public enum RenameMode: Sendable, Hashable {
    /// The file under the new name is replaced.
    case replacing
    /// The call fails with `EEXIST`; nothing is changed.
    case exclusive
    /// The two names are swapped in one step.
    case exchanging
}

public import SystemPackage

/// An open file or folder of a ``FileSystem``. It has no methods of its own, so that no call can
/// bypass the seam.
public struct Descriptor: RawRepresentable, Hashable, Sendable {
    public let rawValue: CInt

    public init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// The working directory of the process (`AT_FDCWD`), for paths that a person gave.
    public static let workingDirectory = Descriptor(rawValue: Platform.workingDirectory)
}

/// How ``FileSystem/open(_:in:_:)`` opens a name.
public enum OpenMode: Sendable, Hashable {
    /// For reading; a symbolic link is refused.
    case read
    /// The same, for looking after a file: where the system can do that, its access time stays (`O_NOATIME`).
    case readUnnoticed
    /// For reading a file that the user named: symbolic links are followed.
    case readFollowingLinks
    /// The same, for a file that is to be regular: a pipe does not make the call wait for its other end.
    case readFollowingLinksWithoutWaiting
    /// For reading and writing an existing file; a symbolic link is refused, and a file that has another name as well
    /// (`EMLINK`).
    case readWrite
    /// For reading and writing a file that must not exist yet (`O_CREAT | O_EXCL`).
    case createNew(FilePermissions)
    /// For reading and writing a file that is created when there is none; a symbolic link is refused. A file that has
    /// another name is not: a lock is none the worse for it.
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

public import SystemPackage

/// The one seam to the operating system: every system call that the product makes on files is a
/// requirement of this protocol.
///
/// Names are resolved relative to an open directory, as by the `…at` family of system calls, so
/// that moving or swapping a folder during an operation cannot redirect it. Every descriptor is
/// opened close-on-exec, and a symbolic link as the last component of a name is refused
/// (`O_NOFOLLOW`) unless the requirement says otherwise.
///
/// All requirements block. Call them from threads that may block, never from Swift's cooperative
/// pool.
///
/// - Note: A failed call is reported once and never retried into success. `EINTR` is the exception:
///   the call had no effect, so it is repeated.
public protocol FileSystem: Sendable {
    /// The user that owns what this process creates (`geteuid`).
    var userID: UInt32 { get }

    /// The number of descriptors that this process may have (`getrlimit` with `RLIMIT_NOFILE`): the number of
    /// each is smaller.
    var descriptorLimit: Int { get }

    /// Opens a file or folder (`openat`).
    func open(_ name: FilePath, in directory: Descriptor, _ mode: OpenMode) throws(FileSystemError)
        -> Descriptor

    /// Closes a descriptor (`close`). The descriptor is invalid afterwards, whatever the outcome.
    func close(_ file: Descriptor)

    /// Reads at most `buffer.count` bytes at `offset` (`pread`). Returns 0 at the end of the file.
    func read(_ file: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int

    /// Writes at most `bytes.count` bytes at `offset` (`pwrite`); returns how many were written.
    func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(FileSystemError) -> Int

    /// Sets the length of a file in bytes (`ftruncate`).
    func resize(_ file: Descriptor, to length: Int64) throws(FileSystemError)

    /// Makes the content of a file, or the entries of a folder, durable (`fsync`; `F_FULLFSYNC` on
    /// Darwin). After a failure, do not try again on the same descriptor.
    func synchronize(_ file: Descriptor) throws(FileSystemError)

    /// The attributes of an open file (`fstat`).
    func attributes(of file: Descriptor) throws(FileSystemError) -> FileAttributes

    /// The attributes of a name, without following a link (`fstatat`), or `nil` when there is none.
    func attributes(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> FileAttributes?

    /// The inode of a name, without following a link (`statx` for nothing else; `fstatat` on Darwin), or `nil` when there
    /// is none. Once a file's times have been read, Linux writes its inode again with the next change, such as a rename,
    /// and a flush then takes an eighth longer.
    func inode(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> UInt64?

    /// The creation time of an open file, in nanoseconds since 1970 (`statx`; `st_birthtimespec` on
    /// Darwin), or `nil` where the file system does not keep it. Writing and renaming do not change it;
    /// a later file that reuses the inode has a different one.
    func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64?

    /// The last access time of an open file, in nanoseconds since 1970 at the resolution of its volume
    /// (`fstat`), or `nil` where it is unknown.
    func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64?

    /// Sets only the access time of an open file, in nanoseconds since 1970 (`futimens`).
    func setAccessTime(_ time: Int64, of file: Descriptor) throws(FileSystemError)

    /// Creates a folder (`mkdirat`). Returns `false` when the name exists already.
    func makeDirectory(_ name: FilePath, in directory: Descriptor, permissions: FilePermissions)
        throws(FileSystemError) -> Bool

    /// Checks that this process may create names in an open folder (`faccessat`).
    ///
    /// - Throws: `EACCES` or `EROFS` when it may not.
    func requireWritable(_ directory: Descriptor) throws(FileSystemError)

    /// Renames a file or folder (`renameat`, `renameat2`; `renameatx_np` on Darwin), atomically on one volume.
    func rename(
        _ name: FilePath, in directory: Descriptor, to newName: FilePath, in newDirectory: Descriptor,
        _ mode: RenameMode
    ) throws(FileSystemError)

    /// Removes a name (`unlinkat`). Never removes a folder.
    func unlink(_ name: FilePath, in directory: Descriptor) throws(FileSystemError)

    /// Removes an empty folder (`unlinkat` with `AT_REMOVEDIR`).
    func removeDirectory(_ name: FilePath, in directory: Descriptor) throws(FileSystemError)

    /// The entries of an open folder (`readdir`), without `.` and `..`, in no particular order.
    func entries(of directory: Descriptor) throws(FileSystemError) -> [DirectoryEntry]

    /// Whether anybody has an open regular file open for writing, as far as the file system tells (`fcntl` with
    /// `F_SETLEASE`, which is not kept). `false` where it does not, or does not tell this user.
    func isBeingWritten(_ file: Descriptor) throws(FileSystemError) -> Bool

    /// Takes the advisory lock of an open file (`flock`), waiting for it if `waiting`. Returns `false`
    /// when another descriptor holds a conflicting lock. The lock ends with the descriptor, and so with
    /// the process.
    func lock(_ file: Descriptor, _ mode: LockMode, waiting: Bool) throws(FileSystemError) -> Bool

    /// Releases the lock of an open file (`flock` with `LOCK_UN`), and closes the file.
    ///
    /// Closing alone does not suffice: a child process that is being started holds a copy of every
    /// descriptor until it executes its program, and keeps the lock until then.
    func unlock(_ file: Descriptor)

    /// Reserves `length` bytes of the volume for an open file without changing its length (`fallocate`
    /// with `FALLOC_FL_KEEP_SIZE`; `F_PREALLOCATE` on Darwin).
    ///
    /// - Throws: `ENOSPC` or `EDQUOT` when fewer are available; an error whose
    ///   ``FileSystemError/isUnsupported`` is `true` when the file system does not support the call.
    func allocate(_ length: Int64, for file: Descriptor) throws(FileSystemError)

    /// Gives an open file to a user and a group (`fchown`).
    func setOwner(_ owner: UInt32, group: UInt32, of file: Descriptor) throws(FileSystemError)

    /// Sets the permissions of an open file or folder (`fchmod`).
    func setPermissions(_ permissions: FilePermissions, of file: Descriptor) throws(FileSystemError)

    /// Reads an extended attribute (`fgetxattr`), or returns `nil` when the file does not have it.
    func extendedAttribute(_ name: String, of file: Descriptor) throws(FileSystemError) -> [UInt8]?

    /// Sets an extended attribute (`fsetxattr`), or removes it when `value` is `nil`.
    func setExtendedAttribute(_ name: String, to value: [UInt8]?, of file: Descriptor) throws(FileSystemError)

    /// Sets or clears the inode's "no dump" mark (`FS_IOC_SETFLAGS`; `UF_NODUMP` on Darwin).
    func setNoDump(_ enabled: Bool, of file: Descriptor) throws(FileSystemError)

    /// Whether the inode carries the "no dump" mark.
    func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool

    /// The size and free space of the volume that holds an open file (`fstatvfs`).
    func volume(of file: Descriptor) throws(FileSystemError) -> VolumeFigures

    /// Makes ``volume(of:)`` count the space of removed files as free, as far as it is: writes all that is
    /// pending on the volume (`syncfs`; `F_FULLFSYNC` on Darwin), and waits while the free space rises.
    ///
    /// XFS removes files in the background, btrfs with its next transaction. Takes milliseconds, or as long as
    /// the device needs to write what others have written.
    func synchronizeVolume(of file: Descriptor) throws(FileSystemError)
}

/// Which other locks a lock excludes.
public enum LockMode: Sendable {
    /// All other locks.
    case exclusive
    /// Exclusive locks only.
    case shared
}

extension FileSystem {
    /// No limit, for file systems without descriptors of the operating system.
    public var descriptorLimit: Int { .max }

    /// For file systems to which asking for the times of a file makes no difference.
    public func inode(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> UInt64? {
        try attributes(of: name, in: directory)?.identity.inode
    }

    /// Returns `nil`, for file systems that do not keep creation times.
    public func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64? { nil }

    /// Returns `nil`, for file systems that do not keep access times.
    public func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64? { nil }

    /// Does nothing, for file systems that do not keep access times.
    public func setAccessTime(_ time: Int64, of file: Descriptor) throws(FileSystemError) {}

    /// Returns `false`, for file systems that do not tell.
    public func isBeingWritten(_ file: Descriptor) throws(FileSystemError) -> Bool { false }

    /// Does nothing, for file systems that free the space of a file as soon as it is removed.
    public func synchronizeVolume(of file: Descriptor) throws(FileSystemError) {}

    /// Does nothing, for file systems without owners.
    public func setOwner(_ owner: UInt32, group: UInt32, of file: Descriptor) throws(FileSystemError) {}

    /// Takes the exclusive lock of an open file.
    public func lock(_ file: Descriptor, waiting: Bool) throws(FileSystemError) -> Bool {
        try lock(file, .exclusive, waiting: waiting)
    }
}

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

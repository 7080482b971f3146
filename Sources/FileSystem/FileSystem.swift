public import SystemPackage

/// The one seam to the operating system: every system call that the product makes on files is a
/// requirement of this protocol.
///
/// Names are resolved relative to an open directory, as the `…at` family of calls does, so that a
/// folder that is moved or swapped during an operation cannot lead it astray. Every descriptor is
/// opened close-on-exec, and a symbolic link as the last component of a name is refused
/// (`O_NOFOLLOW`) unless the requirement says otherwise.
///
/// All requirements block. Call them from threads that may block, never from Swift's cooperative
/// pool.
///
/// - Note: A failed call is reported once and never retried into success. `EINTR` is the exception:
///   the call did not happen, so it is made again.
public protocol FileSystem: Sendable {
    /// The user that owns what this process creates (`geteuid`).
    var userID: UInt32 { get }

    /// Opens a file or folder (`openat`).
    func open(_ name: FilePath, in directory: Descriptor, _ mode: OpenMode) throws(FileSystemError)
        -> Descriptor

    /// Closes a descriptor (`close`). The descriptor is dead afterwards, whatever the outcome.
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
    /// Darwin). After a failure the descriptor must not be trusted with another attempt.
    func synchronize(_ file: Descriptor) throws(FileSystemError)

    /// The attributes of an open file (`fstat`).
    func attributes(of file: Descriptor) throws(FileSystemError) -> FileAttributes

    /// The attributes of a name, without following a link (`fstatat`), or `nil` when there is none.
    func attributes(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> FileAttributes?

    /// When an open file was created, in nanoseconds since 1970 (`statx`; `st_birthtimespec` on Darwin),
    /// or `nil` where the file system does not keep it. Neither writing nor renaming changes it, and a
    /// later file that is given the same inode has another.
    func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64?

    /// When an open file was read last, in nanoseconds since 1970 and as exactly as its volume keeps that
    /// (`fstat`), or `nil` where nobody knows.
    func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64?

    /// Sets the access time of an open file, in nanoseconds since 1970, and no other (`futimens`).
    func setAccessTime(_ time: Int64, of file: Descriptor) throws(FileSystemError)

    /// Creates a folder (`mkdirat`). Returns `false` when the name exists already.
    func makeDirectory(_ name: FilePath, in directory: Descriptor, permissions: FilePermissions)
        throws(FileSystemError) -> Bool

    /// Checks that this process may create names in an open folder (`faccessat`).
    ///
    /// - Throws: `EACCES` or `EROFS` when it may not.
    func requireWritable(_ directory: Descriptor) throws(FileSystemError)

    /// Renames (`renameat`, `renameat2`; `renameatx_np` on Darwin), atomically on one volume.
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

    /// Takes the advisory lock of an open file (`flock`), waiting for it when `waiting`. Returns
    /// `false` when another descriptor holds it in a way that excludes `mode`. The lock goes with the
    /// descriptor, and so with the process.
    func lock(_ file: Descriptor, _ mode: LockMode, waiting: Bool) throws(FileSystemError) -> Bool

    /// Gives the lock of an open file back (`flock` with `LOCK_UN`), and closes it.
    ///
    /// A child process that is just being started has a copy of every descriptor until it runs its program:
    /// a file that is only closed stays locked for as long.
    func unlock(_ file: Descriptor)

    /// Sets `length` bytes of the volume aside for an open file, whose length stays as it is
    /// (`fallocate` with `FALLOC_FL_KEEP_SIZE`; `F_PREALLOCATE` on Darwin).
    ///
    /// - Throws: `ENOSPC` or `EDQUOT` when there are not as many, ``FileSystemError/isUnsupported`` when
    ///   the file system cannot do it.
    func allocate(_ length: Int64, for file: Descriptor) throws(FileSystemError)

    /// Sets the permissions of an open file or folder (`fchmod`).
    func setPermissions(_ permissions: FilePermissions, of file: Descriptor) throws(FileSystemError)

    /// Reads an extended attribute (`fgetxattr`), or `nil` when the file has none of that name.
    func extendedAttribute(_ name: String, of file: Descriptor) throws(FileSystemError) -> [UInt8]?

    /// Sets an extended attribute (`fsetxattr`), or removes it when `value` is `nil`.
    func setExtendedAttribute(_ name: String, to value: [UInt8]?, of file: Descriptor) throws(FileSystemError)

    /// Sets or clears the inode's "no dump" mark (`FS_IOC_SETFLAGS`; `UF_NODUMP` on Darwin).
    func setNoDump(_ enabled: Bool, of file: Descriptor) throws(FileSystemError)

    /// Whether the inode carries the "no dump" mark.
    func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool

    /// The size and free space of the volume that holds an open file (`fstatvfs`).
    func volume(of file: Descriptor) throws(FileSystemError) -> VolumeFigures
}

/// Whom a lock keeps out.
public enum LockMode: Sendable {
    /// Everybody else.
    case exclusive
    /// Whoever wants it exclusively.
    case shared
}

extension FileSystem {
    /// As a file system answers that does not keep it.
    public func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64? { nil }

    /// As a file system answers that does not keep it.
    public func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64? { nil }

    /// As a file system does that does not keep it.
    public func setAccessTime(_ time: Int64, of file: Descriptor) throws(FileSystemError) {}

    /// Takes the exclusive lock of an open file.
    public func lock(_ file: Descriptor, waiting: Bool) throws(FileSystemError) -> Bool {
        try lock(file, .exclusive, waiting: waiting)
    }
}

package import SystemPackage

/// The abstraction of the operating system's file system: every system call that this package makes on files is a
/// requirement of this protocol.
///
/// Names are resolved relative to an open directory, as by the `…at` system calls, so that moving or replacing a folder
/// during an operation cannot redirect it. Every descriptor is opened close-on-exec, and a symbolic link as the last
/// component of a name is refused (`O_NOFOLLOW`) unless stated otherwise.
///
/// All requirements block, but ``readIfInMemory(_:in:into:)`` where ``tellsWhatIsInMemory(_:)`` says so. Call them from
/// threads that may block, never from Swift's cooperative pool.
///
/// - Note: A failed call is reported and not retried, except after `EINTR`, when it had no effect.
package protocol FileSystem: Sendable {
    /// The user that owns the files that this process creates (`geteuid`).
    var userID: UInt32 { get }

    /// The limit on this process's descriptors (`getrlimit` with `RLIMIT_NOFILE`). Every descriptor number is below it.
    var descriptorLimit: Int { get }

    /// Opens a file or folder (`openat`).
    func open(_ name: FilePath, in directory: Descriptor, _ mode: OpenMode) throws(FileSystemError)
        -> Descriptor

    /// Closes a descriptor (`close`), which is invalid afterwards even if the call failed.
    func close(_ file: Descriptor)

    /// Reads up to `buffer.count` bytes at `offset` (`pread`). Returns 0 at the end of the file.
    func read(_ file: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int

    /// Whether ``readIfInMemory(_:in:into:)`` waits for nobody in a folder (`fstatfs`): on file systems of programs and of
    /// other machines, opening a file does.
    func tellsWhatIsInMemory(_ folder: Descriptor) -> Bool

    /// Reads all of a regular file of up to `buffer.count` bytes, without a wait for its content (`openat2` with
    /// `RESOLVE_CACHED`, `preadv2` with `RWF_NOWAIT`). Its access time is left alone.
    ///
    /// - Returns: The length of the file; `nil` if something would have to be fetched, or the file is longer or another kind.
    /// - Throws: An error whose ``FileSystemError/isUnsupported`` is `true` where the system cannot tell.
    func readIfInMemory(
        _ name: FilePath, in directory: Descriptor, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileSystemError) -> Int?

    /// Writes at most `bytes.count` bytes at `offset` (`pwrite`); returns how many were written.
    func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(FileSystemError) -> Int

    /// Sets the length of a file in bytes (`ftruncate`).
    func resize(_ file: Descriptor, to length: Int64) throws(FileSystemError)

    /// Whether an open file begins with a hole: it was emptied or never written there, and only later bytes were
    /// written (`lseek` with `SEEK_HOLE`). `false` if the file system does not report it.
    ///
    /// Some file systems, such as ZFS, also report zeros that were written as a hole.
    func beginsWithHole(_ file: Descriptor) throws(FileSystemError) -> Bool

    /// The first range at or after an offset of an open file that is not a hole (`lseek` with `SEEK_DATA` and `SEEK_HOLE`), or
    /// `nil` if there is none. All of the file if the file system does not report holes.
    func data(of file: Descriptor, from offset: Int64) throws(FileSystemError) -> Range<Int64>?

    /// Makes a range of an open file a hole, which reads as zeros (`fallocate` with `FALLOC_FL_PUNCH_HOLE`; `F_PUNCHHOLE` on
    /// Darwin).
    ///
    /// - Throws: An error whose ``FileSystemError/isUnsupported`` is `true` if the file system has no holes.
    func punchHole(_ range: Range<Int64>, in file: Descriptor) throws(FileSystemError)

    /// Makes the content of a file, or the entries of a folder, durable (`fsync`; `F_FULLFSYNC` on Darwin). Do not
    /// retry on the same descriptor after a failure.
    func synchronize(_ file: Descriptor) throws(FileSystemError)

    /// Writes a file so that nothing written afterwards to the same drive outlives it in a power cut (`F_BARRIERFSYNC`
    /// on Darwin, `fsync` elsewhere). It is durable once anything on that drive is synchronised.
    func order(_ file: Descriptor) throws(FileSystemError)

    /// Has the system begin to write a file, where it can be asked to (`sync_file_range` on Linux): several files whose
    /// writing has begun are flushed in less time one after the other. Nothing is durable by this alone.
    func startWriting(_ file: Descriptor)

    /// The attributes of an open file (`fstat`).
    func attributes(of file: Descriptor) throws(FileSystemError) -> FileAttributes

    /// The attributes of a name, without following symbolic links (`fstatat`), or `nil` if it does not exist.
    func attributes(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> FileAttributes?

    /// The inode number of a name, without following symbolic links (`statx` with `STATX_INO` only; `fstatat` on
    /// Darwin), or `nil` if the name does not exist. Unlike ``attributes(of:in:)`` it does not read the
    /// file's times: after that, Linux rewrites the inode on the next change, such as a rename, which makes a flush an
    /// eighth slower.
    func inode(of name: FilePath, in directory: Descriptor) throws(FileSystemError) -> UInt64?

    /// The length in bytes and the number of hard links of an open file (`statx` with only these; `fstat` on Darwin), for
    /// a file that is written soon after, see ``inode(of:in:)``: both take half as long as with ``attributes(of:)``.
    func lengthAndLinks(of file: Descriptor) throws(FileSystemError) -> (length: Int64, linkCount: UInt64)

    /// The creation time of an open file, in nanoseconds since 1970 (`statx`; `st_birthtimespec` on Darwin), or `nil`
    /// if the file system does not keep it. Writing and renaming do not change it; a later file that reuses the inode
    /// has a different one.
    func birthTime(of file: Descriptor) throws(FileSystemError) -> Int64?

    /// The last access time of an open file, in nanoseconds since 1970 at the resolution of its volume (`fstat`), or
    /// `nil` if unknown.
    func accessTime(of file: Descriptor) throws(FileSystemError) -> Int64?

    /// Sets the times of the last access and, unless `nil`, the last modification of an open file, in nanoseconds since 1970
    /// (`futimens`).
    func setTimes(accessed: Int64, modified: Int64?, of file: Descriptor) throws(FileSystemError)

    /// Creates a folder (`mkdirat`). Returns `false` if the name already exists.
    func makeDirectory(_ name: FilePath, in directory: Descriptor, permissions: FilePermissions)
        throws(FileSystemError) -> Bool

    /// Checks that this process may create entries in an open folder (`faccessat`).
    ///
    /// - Throws: `EACCES` or `EROFS` if it may not.
    func requireWritable(_ directory: Descriptor) throws(FileSystemError)

    /// Renames a file or folder (`renameat`, `renameat2`; `renameatx_np` on Darwin), atomically on one volume.
    func rename(
        _ name: FilePath, in directory: Descriptor, to newName: FilePath, in newDirectory: Descriptor,
        _ mode: RenameMode
    ) throws(FileSystemError)

    /// Creates a file that shares the blocks of another one until either is changed (`ioctl` with `FICLONE`;
    /// `fclonefileat` on Darwin).
    ///
    /// - Throws: An error whose ``FileSystemError/isUnsupported`` is `true` if the file system does not support the
    ///   call; `EXDEV` for two volumes. There is no new file then.
    func clone(
        _ file: Descriptor, to name: FilePath, in directory: Descriptor, permissions: FilePermissions
    ) throws(FileSystemError)

    /// Unlinks a name (`unlinkat`). Never removes a folder.
    func unlink(_ name: FilePath, in directory: Descriptor) throws(FileSystemError)

    /// Removes an empty folder (`unlinkat` with `AT_REMOVEDIR`).
    func removeDirectory(_ name: FilePath, in directory: Descriptor) throws(FileSystemError)

    /// The entries of an open folder (`readdir`), without `.` and `..`, in no particular order.
    func entries(of directory: Descriptor) throws(FileSystemError) -> [DirectoryEntry]

    /// Whether any process has the regular file open for writing (`fcntl` with `F_SETLEASE`; the lease is released
    /// immediately). `nil` if the system does not report it, or not to this user.
    func isBeingWritten(_ file: Descriptor) throws(FileSystemError) -> Bool?

    /// Acquires an advisory lock on an open file (`flock`), blocking if `waiting`. Returns `false` if another
    /// descriptor holds a conflicting lock. The lock is released with the descriptor, and so with the process.
    func lock(_ file: Descriptor, _ mode: LockMode, waiting: Bool) throws(FileSystemError) -> Bool

    /// Releases the locks on an open file and on its bytes (`flock` with `LOCK_UN`, `fcntl` with `F_OFD_SETLK`), and closes
    /// the file.
    ///
    /// Closing alone is not enough: between `fork` and `exec`, a child process holds a copy of every descriptor, which
    /// would keep the lock.
    func unlock(_ file: Descriptor)

    /// Acquires an exclusive advisory lock on one byte of a file, without waiting (`fcntl` with `F_OFD_SETLK`); a shared one
    /// if the file is open for reading only. The byte need not exist. Returns `false` if another descriptor holds it. The lock
    /// is released with the descriptor, and so with the process.
    func lockByte(_ position: Int64, of file: Descriptor) throws(FileSystemError) -> Bool

    /// Preallocates `length` bytes for an open file without changing its length (`fallocate` with
    /// `FALLOC_FL_KEEP_SIZE`; `F_PREALLOCATE` on Darwin).
    ///
    /// - Throws: `ENOSPC` or `EDQUOT` if fewer bytes are available; an error whose ``FileSystemError/isUnsupported`` is
    ///   `true` if the file system does not support the call.
    func allocate(_ length: Int64, for file: Descriptor) throws(FileSystemError)

    /// Sets the permissions of an open file or folder (`fchmod`).
    func setPermissions(_ permissions: FilePermissions, of file: Descriptor) throws(FileSystemError)

    /// When an open file or folder can be read; `nil` where the system does not protect files.
    func protection(of file: Descriptor) throws(FileSystemError) -> FileProtection?

    /// Changes when an open file can be read; for a folder, what is created in it from now on.
    func setProtection(_ protection: FileProtection, of file: Descriptor) throws(FileSystemError)

    /// Reads an extended attribute (`fgetxattr`), or returns `nil` if the file does not have it.
    func extendedAttribute(_ name: String, of file: Descriptor) throws(FileSystemError) -> [UInt8]?

    /// The names of the extended attributes that belong to a file's user and that a copy should have (`flistxattr`).
    func extendedAttributes(of file: Descriptor) throws(FileSystemError) -> [String]

    /// Sets an extended attribute (`fsetxattr`), or removes it if `value` is `nil`.
    func setExtendedAttribute(_ name: String, to value: [UInt8]?, of file: Descriptor) throws(FileSystemError)

    /// Sets or clears the inode's no-dump flag (`FS_IOC_SETFLAGS`; `UF_NODUMP` on Darwin).
    func setNoDump(_ enabled: Bool, of file: Descriptor) throws(FileSystemError)

    /// Whether the inode has the no-dump flag.
    func isNoDump(_ file: Descriptor) throws(FileSystemError) -> Bool

    /// The size and free space of the volume that holds an open file (`fstatvfs`).
    func volume(of file: Descriptor) throws(FileSystemError) -> VolumeFigures

    /// Flushes the volume (`syncfs`; `F_FULLFSYNC` on Darwin), and waits while its free space increases, so that
    /// ``volume(of:)`` reflects the removal of files.
    ///
    /// XFS frees space in the background, btrfs with its next transaction. Takes milliseconds, or as long as the device
    /// needs to write other processes' pending data.
    func synchronizeVolume(of file: Descriptor) throws(FileSystemError)
}

/// When the files of a cache can be read: the data protection of iOS and its relatives. Elsewhere it has no effect.
///
/// A new file has the protection of its folder. What it was created with stays.
public enum FileProtection: String, CaseIterable, Sendable {
    /// Encrypted, and readable only while the device is unlocked. Downloads in the background fail.
    case complete
    /// As ``complete``, but a file that is open stays usable when the device is locked.
    case completeUnlessOpen
    /// Encrypted, and readable from the first unlocking after a restart. What the system uses by default.
    case completeUntilFirstUserAuthentication
    /// Encrypted by a key that the device always has.
    case none
}

/// The kind of an advisory lock.
package enum LockMode: Sendable {
    /// Conflicts with all other locks.
    case exclusive
    /// Conflicts with exclusive locks only.
    case shared
}

extension FileSystem {
    /// Synchronises, which is more than ordering.
    package func order(_ file: Descriptor) throws(FileSystemError) { try synchronize(file) }

    /// Does nothing.
    package func startWriting(_: Descriptor) {}

    package func tellsWhatIsInMemory(_: Descriptor) -> Bool { false }

    /// All of it.
    package func data(of file: Descriptor, from offset: Int64) throws(FileSystemError) -> Range<Int64>? {
        let length = try attributes(of: file).length
        return offset < length ? offset..<length : nil
    }

    /// Is not supported.
    package func punchHole(_: Range<Int64>, in _: Descriptor) throws(FileSystemError) {
        throw FileSystemError("fallocate", errno: .notSupported)
    }

    /// None.
    package func extendedAttributes(of _: Descriptor) throws(FileSystemError) -> [String] { [] }

    /// Is not supported.
    package func readIfInMemory(_: FilePath, in _: Descriptor, into _: UnsafeMutableRawBufferPointer)
        throws(FileSystemError) -> Int?
    {
        throw FileSystemError("openat2", errno: .notSupported)
    }

    /// None.
    package func protection(of _: Descriptor) throws(FileSystemError) -> FileProtection? { nil }

    /// Does nothing.
    package func setProtection(_: FileProtection, of _: Descriptor) throws(FileSystemError) {}

    /// Acquires an exclusive lock on an open file.
    package func lock(_ file: Descriptor, waiting: Bool) throws(FileSystemError) -> Bool {
        try lock(file, .exclusive, waiting: waiting)
    }
}

/// How ``FileSystem/open(_:in:_:)`` opens a name.
package enum OpenMode: Sendable, Hashable {
    /// For reading; a symbolic link is refused.
    case read
    /// For reading without changing the access time (`O_NOATIME`), if the system permits it; a symbolic link is
    /// refused.
    case readWithoutAccessTime
    /// For reading a file named by the user; symbolic links are followed.
    case readFollowingLinks
    /// For reading a regular file named by the user; symbolic links are followed, and opening a pipe does not block
    /// (`O_NONBLOCK`).
    case readFollowingLinksWithoutWaiting
    /// For reading and writing an existing file; a symbolic link is refused, and so is a file with more than one hard
    /// link (`EMLINK`).
    case readWrite
    /// For reading and writing a file that must not exist yet (`O_CREAT | O_EXCL`).
    case createNew(FilePermissions)
    /// For reading and writing a file, which is created if missing; a symbolic link is refused. Additional hard links
    /// are allowed, unlike with ``readWrite``: for lock files they are harmless.
    case createIfMissing(FilePermissions)
    /// An existing folder; a symbolic link is refused.
    case directory
    /// An existing folder at a path named by the user or the platform; symbolic links are followed.
    case directoryFollowingLinks
}

/// What ``FileSystem/rename(_:in:to:in:_:)`` does if the new name exists.
package enum RenameMode: Sendable, Hashable {
    /// The file with the new name is replaced.
    case replacing
    /// The call fails with `EEXIST`; nothing is changed.
    case exclusive
    /// The two names are exchanged atomically.
    case exchanging
}

/// The attributes of a file or folder, as `stat` reports them.
package struct FileAttributes: Hashable, Sendable {
    /// The type of a file.
    package enum Kind: Hashable, Sendable {
        case regular, directory, symbolicLink, other
    }

    /// The identity of an inode: two names with the same identity are hard links to one file.
    package struct Identity: Hashable, Sendable {
        /// The volume (`st_dev`).
        package let device: UInt64
        /// The inode number on the volume (`st_ino`).
        package let inode: UInt64

        /// Creates an identity from the values that `stat` reports.
        package init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    /// The type of the file.
    package let kind: Kind
    /// The identity of the inode.
    package let identity: Identity
    /// Length in bytes.
    package let length: Int64
    /// Bytes allocated on the volume (`st_blocks` × 512).
    package let allocated: Int64
    /// The number of hard links to the file.
    package let linkCount: UInt64
    /// The user that owns the file (`st_uid`).
    package let owner: UInt32
    /// The permission bits, without the file type.
    package let permissions: FilePermissions
    /// Last modification, in nanoseconds since 1970.
    package let modified: Int64
    /// Last change of the content or of these attributes, in nanoseconds since 1970; nobody can set it.
    package let changed: Int64
    /// Whether the content is in the cloud alone, so that reading would download it (`SF_DATALESS`, on Darwin).
    package let isDataless: Bool

    /// Creates attributes from their values.
    package init(
        kind: Kind, identity: Identity, length: Int64, allocated: Int64, linkCount: UInt64,
        owner: UInt32, permissions: FilePermissions, modified: Int64,
        changed: Int64 = 0, isDataless: Bool = false
    ) {
        self.kind = kind
        self.identity = identity
        self.length = length
        self.allocated = allocated
        self.linkCount = linkCount
        self.owner = owner
        self.permissions = permissions
        self.modified = modified
        self.changed = changed
        self.isDataless = isDataless
    }

    /// Whether a file was written to since it had earlier attributes.
    package func isWritten(since earlier: FileAttributes) -> Bool {
        identity != earlier.identity || length != earlier.length || modified != earlier.modified
            || changed != earlier.changed
    }
}

/// One entry of a folder.
package struct DirectoryEntry: Hashable, Sendable {
    /// The name of the entry in its folder.
    package let name: FilePath.Component
    /// The type of the entry, or `nil` if the file system does not report it with the name: read the attributes
    /// instead.
    package let kind: FileAttributes.Kind?

    /// Creates an entry.
    package init(name: FilePath.Component, kind: FileAttributes.Kind?) {
        self.name = name
        self.kind = kind
    }
}

/// The size and free space of a volume, in bytes.
package struct VolumeFigures: Hashable, Sendable {
    /// Bytes of the whole volume: `f_blocks` × `f_frsize`.
    package let total: Int64
    /// Bytes available to this user: `f_bavail` × `f_frsize`.
    package let available: Int64
    /// The allocation unit in bytes: `f_frsize`.
    package let blockSize: Int64

    /// Creates volume figures from values in bytes.
    package init(total: Int64, available: Int64, blockSize: Int64) {
        self.total = total
        self.available = available
        self.blockSize = blockSize
    }

    /// Creates volume figures from numbers of blocks. Products that `Int64` cannot represent are clamped.
    init(blocks: Int64, available: Int64, ofBytes blockSize: Int64) {
        func bytes(_ blocks: Int64) -> Int64 {
            let (bytes, isTooLarge) = blocks.multipliedReportingOverflow(by: blockSize)
            return isTooLarge ? .max : bytes
        }
        self.init(total: bytes(blocks), available: bytes(available), blockSize: blockSize)
    }
}

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

    /// Whether permission is missing: `EACCES`, `EPERM` or `EROFS`, and not because the device is locked.
    package var isNotPermitted: Bool {
        guard !isOfLockedDevice else { return false }
        return errno == .permissionDenied || errno == .notPermitted || errno == .readOnlyFileSystem
    }

    /// Whether the content cannot be read or written because the device is locked, which says nothing about it: `EPERM`
    /// on Darwin, `ENOKEY` on Linux.
    package var isOfLockedDevice: Bool {
        errno == Platform.locked && ["open", "read", "write"].contains(operation)
    }

    /// Whether the name does not exist: `ENOENT`.
    package var isNotFound: Bool { errno == .noSuchFileOrDirectory }

    /// Whether the process or the system can open no more files: `EMFILE` or `ENFILE`.
    package var isOutOfDescriptors: Bool { errno == .tooManyOpenFiles || errno == .tooManyOpenFilesInSystem }

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

public import SystemPackage

/// The attributes of a file or folder, as `stat` reports them.
public struct FileAttributes: Hashable, Sendable {
    /// The type of a file.
    public enum Kind: Hashable, Sendable {
        case regular, directory, symbolicLink, other
    }

    /// The identity of an inode: two names with the same identity are one file.
    public struct Identity: Hashable, Sendable {
        /// The volume (`st_dev`).
        public let device: UInt64
        /// The number of the inode on its volume (`st_ino`).
        public let inode: UInt64

        /// Creates an identity from the values that `stat` reports.
        public init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    /// The type of the file.
    public let kind: Kind
    /// The identity of the inode.
    public let identity: Identity
    /// Length in bytes.
    public let length: Int64
    /// Bytes allocated on the volume (`st_blocks` × 512).
    public let allocated: Int64
    /// The number of names (hard links) of the file.
    public let linkCount: UInt64
    /// The user that owns the file (`st_uid`).
    public let owner: UInt32
    /// The group of the file (`st_gid`).
    public let group: UInt32
    /// The permission bits, without the file type.
    public let permissions: FilePermissions
    /// Last modification, in nanoseconds since 1970.
    public let modified: Int64

    /// Creates attributes from their values.
    public init(
        kind: Kind, identity: Identity, length: Int64, allocated: Int64, linkCount: UInt64,
        owner: UInt32, group: UInt32 = 0, permissions: FilePermissions, modified: Int64
    ) {
        self.kind = kind
        self.identity = identity
        self.length = length
        self.allocated = allocated
        self.linkCount = linkCount
        self.owner = owner
        self.group = group
        self.permissions = permissions
        self.modified = modified
    }
}

/// One entry of a folder.
public struct DirectoryEntry: Hashable, Sendable {
    /// The name of the entry in its folder.
    public let name: FilePath.Component
    /// The type of the entry, or `nil` when the file system does not report it with the name; then read
    /// the attributes.
    public let kind: FileAttributes.Kind?

    /// Creates an entry.
    public init(name: FilePath.Component, kind: FileAttributes.Kind?) {
        self.name = name
        self.kind = kind
    }
}

/// The size and free space of a volume, in bytes.
public struct VolumeFigures: Hashable, Sendable {
    /// Bytes of the whole volume: `f_blocks` × `f_frsize`.
    public let total: Int64
    /// Bytes still available to this user: `f_bavail` × `f_frsize`.
    public let available: Int64
    /// The unit of allocation, in bytes: `f_frsize`.
    public let blockSize: Int64

    /// Creates figures from values in bytes.
    public init(total: Int64, available: Int64, blockSize: Int64) {
        self.total = total
        self.available = available
        self.blockSize = blockSize
    }
}

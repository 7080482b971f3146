public import SystemPackage

/// What `stat` tells about a file or folder.
public struct FileAttributes: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case regular, directory, symbolicLink, other
    }

    /// The identity of an inode: two names with the same identity are one file.
    public struct Identity: Hashable, Sendable {
        public let device: UInt64
        public let inode: UInt64

        public init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    public let kind: Kind
    public let identity: Identity
    /// Length in bytes.
    public let length: Int64
    /// Bytes allocated on the volume (`st_blocks` × 512).
    public let allocated: Int64
    public let linkCount: UInt64
    public let owner: UInt32
    public let permissions: FilePermissions
    /// Last modification, in nanoseconds since 1970.
    public let modified: Int64

    public init(
        kind: Kind, identity: Identity, length: Int64, allocated: Int64, linkCount: UInt64,
        owner: UInt32, permissions: FilePermissions, modified: Int64
    ) {
        self.kind = kind
        self.identity = identity
        self.length = length
        self.allocated = allocated
        self.linkCount = linkCount
        self.owner = owner
        self.permissions = permissions
        self.modified = modified
    }
}

/// One entry of a folder.
public struct DirectoryEntry: Hashable, Sendable {
    public let name: FilePath.Component
    /// What the entry is, when the file system says so for free; otherwise ask for its attributes.
    public let kind: FileAttributes.Kind?

    public init(name: FilePath.Component, kind: FileAttributes.Kind?) {
        self.name = name
        self.kind = kind
    }
}

/// The size and free space of a volume, in bytes.
public struct VolumeFigures: Hashable, Sendable {
    /// `f_blocks` × `f_frsize`.
    public let total: Int64
    /// What this user may still take: `f_bavail` × `f_frsize`.
    public let available: Int64
    /// The unit of allocation: `f_frsize`.
    public let blockSize: Int64

    public init(total: Int64, available: Int64, blockSize: Int64) {
        self.total = total
        self.available = available
        self.blockSize = blockSize
    }
}

package import SystemPackage

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
    /// The group of the file (`st_gid`).
    package let group: UInt32
    /// The permission bits, without the file type.
    package let permissions: FilePermissions
    /// Last modification, in nanoseconds since 1970.
    package let modified: Int64

    /// Creates attributes from their values.
    package init(
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
}

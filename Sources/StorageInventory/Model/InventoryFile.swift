package import FileSystem
package import StorageAreas
package import SystemPackage

/// One file found by a walk; a link and a socket count as files.
package struct InventoryFile: Sendable {
    /// The index of its folder.
    package let folder: Int32
    package let name: FilePath.Component
    package var kind: FileKind
    /// Length in bytes.
    package let length: Int64
    /// Bytes allocated on the volume.
    package let allocated: Int64
    /// Whether the bytes were already counted under another name of the same file, or through a bind mount.
    package let isCountedElsewhere: Bool
    package let linkCount: UInt32
    package let identity: FileAttributes.Identity
    /// Last modification, in milliseconds since 1970.
    package let modified: Int64
    package let area: Area?
    package var exclusions: Exclusions
    /// Whether nothing else excludes the file: all marks and tags that count could be read.
    package var areMarksKnown: Bool
    /// Whether backups should contain the file.
    package var isBackupWanted: Bool
    package var facts: Facts?

    /// The records that say why a file is there.
    package struct Facts: Sendable, Hashable {
        package let key: String
        /// `nil` when it was not recorded, as for a promoted file.
        package let source: String?
        package let isUserRequested: Bool?
        /// When it was stored or opened, in milliseconds since 1970.
        package let since: Int64
        package let contentLength: Int64
        /// The index of its entry in the ledger.
        package var ledgerEntry: Int32?
    }

    /// Whether a full backup contains the file, by all rules that apply to the place.
    package var isBackedUp: Bool { exclusions.isEmpty }

    /// The length that sums count for the file.
    package var countedLength: Int64 { isCountedElsewhere ? 0 : length }
    package var countedAllocation: Int64 { isCountedElsewhere ? 0 : allocated }

    /// Whether the user sees the file in a file browser. A hidden file is not shown.
    package var isVisible: Bool {
        (area?.promise.isVisibleToUser ?? false) && !name.string.hasPrefix(".")
    }

    /// Whether the system may delete the file to make room, or because it is old.
    package var isPurgeable: Bool { area.map { $0.promise.purge != .never } ?? false }

    /// When the file was stored, opened or last changed, in milliseconds since 1970.
    package var since: Int64 { facts?.since ?? modified }
}

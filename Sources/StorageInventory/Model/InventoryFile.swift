package import StorageAreas
package import SystemPackage

/// One file that was found; a link and a socket count as files.
package struct InventoryFile: Sendable {
    /// The number of its folder.
    package let folder: Int32
    package let name: FilePath.Component
    package var kind: FileKind
    /// Bytes.
    package let length: Int64
    /// Bytes on the volume.
    package let allocated: Int64
    /// Whether the bytes were counted under another name of the same file already.
    package let isCountedElsewhere: Bool
    package let linkCount: UInt32
    /// Last modification, in milliseconds since 1970.
    package let modified: Int64
    package let area: Area?
    package var exclusions: Exclusions
    /// Whether backups shall contain the file.
    package var isBackupWanted: Bool
    package var facts: Facts?

    /// Why a file is there.
    package struct Facts: Sendable, Hashable {
        package let key: String
        /// `nil` where nobody recorded it; so with what was handed over.
        package let source: String?
        package let isUserRequested: Bool?
        /// When it was stored, or opened, in milliseconds since 1970.
        package let since: Int64
        package let contentLength: Int64
        /// The number of its entry in the ledger.
        package var ledgerEntry: Int32?
    }

    /// Whether a backup of everything, by all the rules that hold for the place, contains the file.
    package var isBackedUp: Bool { exclusions.isEmpty }

    /// What sums count for the file.
    package var countedLength: Int64 { isCountedElsewhere ? 0 : length }
    package var countedAllocation: Int64 { isCountedElsewhere ? 0 : allocated }

    /// Whether the user meets the file in a file browser. A hidden file is shown nowhere.
    package var isVisible: Bool {
        (area?.promise.isVisibleToUser ?? false) && !name.string.hasPrefix(".")
    }

    /// Whether the system may delete the file to make room, or because it is old.
    package var isPurgeable: Bool { area.map { $0.promise.purge != .never } ?? false }

    /// When the file came to be there, or was changed last.
    package var since: Int64 { facts?.since ?? modified }
}

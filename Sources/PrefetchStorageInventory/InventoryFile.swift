package import PrefetchCaching
package import PrefetchFileSystem
package import PrefetchStorageAreas
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

/// What a file is to the cache.
///
/// Raw values are printed by `cachectl inventory --json`: a value once used keeps its meaning.
package enum FileKind: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A cached item.
    case item
    /// The bytes of an item whose storing is under way or was interrupted.
    case partial
    /// The journal beside a partial.
    case journal
    /// A damaged item in the quarantine.
    case quarantined
    /// A file that was promoted, or is about to be.
    case promoted
    /// A file of a promotion under way.
    case staged
    case catalog, ledger, configuration, lock
    /// `CACHEDIR.TAG`.
    case tag
    /// A file that the cache did not create.
    case foreign
    /// A symbolic link; its target is not examined.
    case link
    /// A socket, a pipe or a device.
    case special

    /// Compares the positions in the declaration.
    package static func < (left: FileKind, right: FileKind) -> Bool { left.position < right.position }

    private var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One folder found by a walk.
package struct InventoryFolder: Sendable {
    /// The index of its parent folder; `nil` for a root of the walk.
    package let parent: Int32?
    /// The name in the parent; for a root of the walk, the whole path.
    package let name: FilePath
    /// The depth below the root of the walk.
    package let depth: Int32
    /// `nil` for a folder of a container that is in no area, such as `Library/Preferences`.
    package let area: Area?
    /// The role of the folder in the cache, if any.
    package let role: CacheFolder?
    package let attributes: FileAttributes
    /// Whether its space was already counted: it is seen a second time, through a bind mount.
    package let isCountedElsewhere: Bool
    /// The exclusions of everything in the folder.
    package var exclusions: Exclusions = []
    /// Whether all marks and tags of the folder and of those above could be read, so that nothing else excludes
    /// what is in it.
    package var areMarksKnown = true
    /// Whether the folder itself carries a mark or a tag that excludes its content.
    package var isExcludedItself = false
}

/// The reasons for which backups leave a file out.
package struct Exclusions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The no-dump flag of the file or of a folder above (`chattr +d`, `UF_NODUMP`).
    package static let noDump = Exclusions(rawValue: 1)
    /// The attribute of freedesktop.org on the file or on a folder above.
    package static let xdgAttribute = Exclusions(rawValue: 2)
    /// Apple's attribute on the file or on a folder above.
    package static let appleAttribute = Exclusions(rawValue: 4)
    /// The platform never backs up the area.
    package static let area = Exclusions(rawValue: 1 << 6)
    /// A folder above has a `CACHEDIR.TAG`. The tag does not exclude itself.
    package static let cacheTag = Exclusions(rawValue: 1 << 7)

    /// The marks that are set on the file or on a folder above.
    package static let marks: Exclusions = [.noDump, .xdgAttribute, .appleAttribute]

    /// Reads the marks of an open file or folder. One that the file system does not support counts as absent.
    init(markedOn file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        let mark = BackupMark(fileSystem: fileSystem)
        self = []
        if try mark.isNoDump(file) { insert(.noDump) }
        if try mark.attribute(BackupMark.xdgAttribute, of: file) == BackupMark.xdgExcluded {
            insert(.xdgAttribute)
        }
        if try mark.attribute(BackupMark.appleAttribute, of: file) != nil { insert(.appleAttribute) }
    }

    /// The names of the members, as in JSON and CSV.
    package var names: [String] {
        let named: [(Exclusions, String)] = [
            (.area, "area"), (.cacheTag, "cacheTag"), (.noDump, "noDump"), (.xdgAttribute, "xdgAttribute"),
            (.appleAttribute, "appleAttribute"),
        ]
        return named.filter { contains($0.0) }.map(\.1)
    }
}

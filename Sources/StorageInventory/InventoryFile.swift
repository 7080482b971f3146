package import PrefetchCaching
package import PrefetchFileSystem
package import PrefetchStorageAreas
package import SystemPackage

/// A file found by a walk. Symbolic links and special files count as files.
package struct InventoryFile: Sendable {
    package let folder: Int
    package let name: FilePath.Component
    package var kind: FileKind
    package let length: Int64
    package let allocated: Int64
    /// Whether the bytes were already counted for another hard link to the file, or through a bind mount.
    package let isCountedElsewhere: Bool
    package let identity: FileAttributes.Identity
    /// Last modification, in milliseconds since 1970.
    package let modified: Int64
    package let area: Area?
    package var exclusions: Exclusions
    /// Whether all relevant marks and tags could be read, so that ``exclusions`` is complete.
    package var areMarksKnown: Bool
    /// Whether backups should contain the file.
    package var isBackupIntended: Bool
    package var facts: Facts?

    /// What the cache's records say about a file.
    package struct Facts: Sendable, Hashable {
        package let key: String
        /// `nil` if not recorded.
        package let source: String?
        package let isUserRequested: Bool?
        /// When it was stored or opened, in milliseconds since 1970.
        package let since: Int64
        package let contentBytes: Int64
        /// The index of its entry in the ledger.
        package var ledgerEntry: Int?
    }

    /// Whether a full backup contains the file, according to the rules that apply to the location.
    package var isBackedUp: Bool { exclusions.isEmpty }

    /// The file's contribution to sums of lengths, in bytes.
    package var countedLength: Int64 { isCountedElsewhere ? 0 : length }

    /// Whether the file is visible to the user in a file browser, which does not show hidden files.
    package var isVisible: Bool { area?.promise.isVisibleToUser == true && !name.string.hasPrefix(".") }

    /// Whether the system may delete the file, to free space or because it is old.
    package var isPurgeable: Bool { area.map { $0.promise.purge != .never } ?? false }

    /// Whether the file is where everything is backed up, unless something excludes it. The area of an app on Linux
    /// decides nothing, but its files are judged alike.
    var isWhereBackedUp: Bool { area.map { $0.promise.backup == .backedUp } ?? true }

    /// When the file was stored, opened or last changed, in milliseconds since 1970.
    package var since: Int64 { facts?.since ?? modified }
}

/// The role of a file in the cache; the article Inventory tells what each is.
///
/// Raw values are printed by `cachectl inventory --json` and never change meaning.
package enum FileKind: String, Sendable, Hashable, CaseIterable {
    case item, partial, journal, quarantined, promoted, staged
    case catalog, record, configuration, lock, tag
    /// A file that the cache did not create.
    case foreign
    /// A symbolic link, whose target is not examined; and a socket, a pipe or a device.
    case link, special
}

/// A folder found by a walk.
package struct InventoryFolder: Sendable {
    /// The index of its parent folder; `nil` for a root of the walk.
    package let parent: Int?
    /// The name in the parent folder; for a root of the walk, its full path.
    package let name: FilePath
    package let depth: Int
    /// `nil` for a folder of a container outside all areas, such as `Library/Preferences`.
    package let area: Area?
    package let role: CacheFolder?
    package let attributes: FileAttributes
    /// Whether its space was already counted, because it was also found through a bind mount.
    package let isCountedElsewhere: Bool
    package var exclusions: Exclusions = []
    /// Whether all marks and tags of the folder and its parents could be read, so that ``exclusions`` is complete.
    package var areMarksKnown = true
    /// Whether the folder has a valid `CACHEDIR.TAG`, whether that counts or not.
    package var isTagged = false
    /// Whether the folder itself has a mark or tag that excludes its content.
    package var isExcludedItself = false
}

/// The reasons why backups exclude a file; the article Inventory tells what each stands for.
package struct Exclusions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    // The marks of the file or of a folder around it.
    package static let noDump = Exclusions(rawValue: 1)
    package static let xdgAttribute = Exclusions(rawValue: 2)
    package static let appleAttribute = Exclusions(rawValue: 4)
    /// The platform never backs up the area.
    package static let area = Exclusions(rawValue: 8)
    /// A folder around it has a `CACHEDIR.TAG`. The tag does not exclude itself.
    package static let cacheTag = Exclusions(rawValue: 16)

    package static let marks: Exclusions = [.noDump, .xdgAttribute, .appleAttribute]

    /// Reads the marks of an open file or folder. Marks that the file system does not support count as absent.
    init(markedOn file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        let mark = BackupMark(fileSystem: fileSystem)
        self = try mark.isNoDump(file) ? .noDump : []
        if try mark.attribute(BackupMark.xdgAttribute, of: file) == BackupMark.xdgExcluded {
            insert(.xdgAttribute)
        }
        if try mark.attribute(BackupMark.appleAttribute, of: file) != nil { insert(.appleAttribute) }
    }

    /// The members, each with its name in JSON and CSV.
    static let named: [(member: Exclusions, name: String)] = [
        (.area, "area"), (.cacheTag, "cacheTag"), (.noDump, "noDump"), (.xdgAttribute, "xdgAttribute"),
        (.appleAttribute, "appleAttribute"),
    ]

    package var names: [String] { Self.named.filter { contains($0.member) }.map(\.name) }
}

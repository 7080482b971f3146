internal import PrefetchFileSystem
package import PrefetchStorageAreas

/// Sums over the files of an inventory.
package struct InventoryTotals: Sendable {
    /// The sums over the files of one kind in one area.
    package struct Group: Sendable, Hashable {
        package let area: Area?
        package let kind: FileKind
        package var files = 0
        /// In bytes. A file with several hard links counts once.
        package var length: Int64 = 0
        package var allocated: Int64 = 0
        /// Bytes that a backup contains.
        package var backedUp: Int64 = 0
    }

    /// The groups in declaration order of the areas; files outside all areas come last.
    package private(set) var groups: [Group] = []
    package private(set) var folders = 0
    /// Bytes allocated on the volume for the folders themselves.
    package private(set) var folderAllocation: Int64 = 0
    /// Bytes that a backup contains, according to the actual marks and tags.
    package private(set) var backupLength: Int64 = 0
    /// Bytes that a backup should contain.
    package private(set) var intendedBackupLength: Int64 = 0
    /// Excluded bytes by ``Exclusions/names``. Bytes excluded for several reasons count for each of them.
    package private(set) var excludedLength: [String: Int64] = [:]

    /// Bytes allocated on the volume that a device's settings show as "Documents & Data".
    package private(set) var documentsAndData: Int64 = 0
    /// Bytes allocated on the volume that count only in the app's total: Caches and tmp.
    package private(set) var cachesAndTemporary: Int64 = 0

    package var files: Int { groups.reduce(0) { $0 + $1.files } }
    package var length: Int64 { groups.reduce(0) { $0 + $1.length } }
    /// Bytes allocated on the volume, as counted by `du`.
    package var allocated: Int64 { groups.reduce(folderAllocation) { $0 + $1.allocated } }

    /// - Complexity: O(*n*) in the number of files and folders.
    package init(of inventory: FileInventory) {
        var byKind: [Area?: [FileKind: Group]] = [:]
        var lengths: [Exclusions: Int64] = [:]
        // A file with several hard links counts once if any of them is backed up, whichever was found first.
        var backedUp = OncePerFile()
        var wanted = OncePerFile()
        var excluded = OncePerFile()
        for file in inventory.files {
            var group = byKind[file.area]?[file.kind] ?? Group(area: file.area, kind: file.kind)
            group.files += 1
            if !file.isCountedElsewhere {
                group.length += file.length
                group.allocated += file.allocated
                count(file.allocated, in: file.area)
            }
            if file.isBackedUp, backedUp.isFirst(file) {
                group.backedUp += file.length
                backupLength += file.length
            }
            byKind[file.area, default: [:]][file.kind] = group
            if file.isBackupIntended, wanted.isFirst(file) { intendedBackupLength += file.length }
            if !file.isBackedUp, excluded.isFirst(file) {
                lengths[file.exclusions, default: 0] += file.length
            }
        }
        for folder in inventory.folders {
            folders += 1
            guard !folder.isCountedElsewhere else { continue }
            folderAllocation += folder.attributes.allocated
            count(folder.attributes.allocated, in: folder.area)
        }
        groups = (Area.allCases + [nil]).flatMap { area in
            FileKind.allCases.compactMap { byKind[area]?[$0] }
        }
        for (exclusions, length) in lengths {
            for name in exclusions.names { excludedLength[name, default: 0] += length }
        }
    }

    /// Files outside the areas, such as preferences, count as the app's data.
    private mutating func count(_ allocated: Int64, in area: Area?) {
        switch area.map(\.promise.isCountedInDocumentsAndData) ?? true {
        case true?: documentsAndData += allocated
        case false?: cachesAndTemporary += allocated
        case nil: break
        }
    }
}

/// Counts a file with several hard links once.
private struct OncePerFile {
    private var counted: Set<FileAttributes.Identity> = []

    mutating func isFirst(_ file: InventoryFile) -> Bool { counted.insert(file.identity).inserted }
}

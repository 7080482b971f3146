internal import ArgumentParser
internal import PrefetchCache
internal import StorageInventory
internal import SystemPackage

/// Which files of an inventory somebody asked for.
struct InventorySelection {
    /// Empty for all.
    let areas: Set<Area?>
    /// Empty for all.
    let kinds: Set<FileKind>
    let source: String?
    /// Bytes.
    let largerThan: Int64?
    /// Milliseconds since 1970.
    let before: Int64?

    func contains(_ file: InventoryFile) -> Bool {
        (areas.isEmpty || areas.contains(file.area)) && (kinds.isEmpty || kinds.contains(file.kind))
            && (source == nil || file.facts?.source == source)
            && (largerThan.map { file.length > $0 } ?? true) && (before.map { file.since < $0 } ?? true)
    }

    /// The files, the largest first, and of one size in the order of their paths.
    func sortedFiles(of inventory: StorageInventory) -> [InventoryFile] {
        var files = inventory.files.filter(contains)
        files.sort {
            if $0.allocated != $1.allocated { return $0.allocated > $1.allocated }
            if $0.length != $1.length { return $0.length > $1.length }
            if $0.folder != $1.folder { return $0.folder < $1.folder }
            return $0.name.string < $1.name.string
        }
        return files
    }
}

/// An area as an argument, or what is in none.
struct AreaChoice: ExpressibleByArgument {
    static let outside = "other"

    let area: Area?

    init?(argument: String) {
        area = Area(name: argument)
        if area == nil, argument != Self.outside { return nil }
    }

    static var allValueStrings: [String] { Area.allCases.map(\.name) + [outside] }
}

extension FileKind: ExpressibleByArgument {}

extension Area? {
    /// The name that the commands take and print.
    var choiceName: String { self?.name ?? AreaChoice.outside }
}

internal import ArgumentParser
internal import PrefetchCache
internal import StorageInventory

/// The files of an inventory that the user asked for.
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
            && (source.map { file.facts?.source?.utf8.elementsEqual($0.utf8) ?? false } ?? true)
            && (largerThan.map { file.length > $0 } ?? true) && (before.map { file.since < $0 } ?? true)
    }

    /// The files, largest first, and those of equal size folder by folder.
    func sortedFiles(of inventory: StorageInventory) -> LazyMapCollection<[Int], InventoryFile> {
        let files = inventory.files
        var order = files.indices.filter { contains(files[$0]) }
        // Indices are sorted: the files themselves take too much memory for a copy.
        order.sort {
            let (left, right) = (files[$0], files[$1])
            if left.allocated != right.allocated { return left.allocated > right.allocated }
            if left.length != right.length { return left.length > right.length }
            return (left.folder, $0) < (right.folder, $1)
        }
        return order.lazy.map { files[$0] }
    }
}

/// An area as an argument, or `other` for files outside all areas.
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
    /// The name in arguments and in output.
    var choiceName: String { self?.name ?? AreaChoice.outside }
}

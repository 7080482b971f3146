internal import PrefetchCache
internal import StorageAreas
internal import SystemPackage

extension StorageInventory {
    /// No area and no promoted file lies deeper: the folder of a destination has at most 8 components, and
    /// areas are near the root of a walk.
    static let deepest = Int32(FolderPath.maximumDepth + 8)

    private struct AreaFolder: Hashable {
        let area: Area
        let relative: FilePath
    }

    /// Recognises, among the files found, those that the ledger says were promoted.
    mutating func recognisePromotedFiles() {
        guard let entries = ledger?.entries, !entries.isEmpty else { return }
        var expected: [AreaFolder: [FilePath.Component: Int32]] = [:]
        for (number, entry) in entries.enumerated() {
            guard let name = entry.location.relative.lastComponent else { continue }
            let folder = AreaFolder(
                area: entry.location.area, relative: entry.location.relative.removingLastComponent())
            expected[folder, default: [:]][name] = Int32(number)
        }
        let names = folders.indices.map { number in areaFolder(Int32(number)).flatMap { expected[$0] } }
        for index in files.indices where files[index].kind == .foreign || files[index].kind == .tag {
            guard let number = names[Int(files[index].folder)]?[files[index].name] else { continue }
            let entry = entries[Int(number)]
            files[index].kind = .promoted
            files[index].isBackupWanted = files[index].isBackupWanted && entry.backup == .include
            files[index].facts = InventoryFile.Facts(
                key: entry.key, source: nil, isUserRequested: nil, since: entry.openedAt,
                contentLength: entry.contentLength, ledgerEntry: number)
        }
    }

    private func areaFolder(_ number: Int32) -> AreaFolder? {
        let folder = folders[Int(number)]
        guard let area = folder.area, folder.depth <= Self.deepest, let root = place.areas.path(of: area)
        else { return nil }
        var relative = self.root(ofFolder: number).lexicallyNormalized().pushing(path(ofFolder: number))
        guard relative.removePrefix(root.lexicallyNormalized()) else { return nil }
        return AreaFolder(area: area, relative: relative)
    }
}

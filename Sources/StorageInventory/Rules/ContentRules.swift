internal import FileSystem
// `range(of:)` is not in FoundationEssentials.
internal import Foundation
internal import ItemFormat
internal import PrefetchCache
internal import StorageAreas
internal import SystemPackage

/// A stored absolute path, which is invalid after the next update of the app.
struct StoredAbsolutePath: StorageRule {
    let info = RuleInfo(
        name: "absolute-path", severity: .error,
        explanation:
            "Stored data contains an absolute path: the path of a container changes with every update.",
        guideline: Guideline.fileSystem, fix: "Store the area and the path below it.")

    /// In bytes. Enough for lists of files; a larger file holds content.
    private static let limit: Int64 = 4 << 20
    private static let extensions: Set = ["archive", "db", "json", "plist", "sqlite", "sqlite3", "xml"]

    func check(_ checkup: inout Checkup) {
        let needles = Self.needles(checkup.inventory.place)
        let files = checkup.files { file in
            if let facts = file.facts, Self.contains(needles, facts.key, facts.source) { return true }
            guard file.kind == .foreign || file.kind == .configuration, file.length <= Self.limit,
                file.area == .applicationSupport || file.area == nil
            else { return false }
            return file.name.extension.map { Self.extensions.contains($0.lowercased()) } ?? false
        }
        for index in files {
            if let facts = checkup.file(index).facts {
                if Self.contains(needles, facts.key, facts.source) {
                    checkup.report(self, index, "its key or its source contains one")
                }
            } else if let bytes = checkup.beginning(of: index, count: Int(checkup.file(index).length)),
                needles.contains(where: { Data(bytes).range(of: Data($0.utf8)) != nil })
            {
                checkup.report(self, index, "its content contains one")
            }
        }
    }

    /// Strings that identify an absolute path of a container.
    private static func needles(_ place: InventoryPlace) -> [String] {
        let ofAreas = [place.areas.documents, place.areas.applicationSupport, place.areas.caches]
        return ["/Containers/Data/Application/"]
            + (place.container.map { [$0] } ?? ofAreas).map { $0.string + "/" }
    }

    private static func contains(_ needles: [String], _ key: String, _ source: String?) -> Bool {
        needles.contains { key.contains($0) || source?.contains($0) == true }
    }
}

internal import FileSystem
// `range(of:)` is not in FoundationEssentials.
internal import Foundation
internal import ItemFormat
internal import PrefetchCache
internal import StorageAreas
internal import SystemPackage

/// An absolute path that is dead after the next update of the app.
struct StoredAbsolutePath: StorageRule {
    let info = RuleInfo(
        name: "absolute-path", severity: .error,
        explanation: "Stored data has an absolute path in it: that of a container changes with every update.",
        guideline: Guideline.fileSystem, fix: "Store the area and the path below it.")

    /// In bytes. Lists of files have room in it; what is larger holds content.
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
                    checkup.report(self, index, "its key or its source has one")
                }
            } else if let bytes = checkup.beginning(of: index, count: Int(checkup.file(index).length)),
                needles.contains(where: { Data(bytes).range(of: Data($0.utf8)) != nil })
            {
                checkup.report(self, index, "its content has one")
            }
        }
    }

    /// What absolute paths of a container have in them.
    private static func needles(_ place: InventoryPlace) -> [String] {
        let ofAreas = [place.areas.documents, place.areas.applicationSupport, place.areas.caches]
        return ["/Containers/Data/Application/"]
            + (place.container.map { [$0] } ?? ofAreas).map { $0.string + "/" }
    }

    private static func contains(_ needles: [String], _ key: String, _ source: String?) -> Bool {
        needles.contains { key.contains($0) || source?.contains($0) == true }
    }
}

/// One content in several places.
struct SameContentTwice: StorageRule {
    let info = RuleInfo(
        name: "same-content-twice", severity: .warning,
        explanation: "The same content (of 4 KiB or more) lies in two places.",
        guideline: Guideline.fileSystem, fix: "Keep it in one place; for another name a hard link will do.")

    private static let smallest: Int64 = 4096

    private struct Content: Hashable {
        let length: Int64
        let checksum: UInt64
    }

    func check(_ checkup: inout Checkup) {
        var byLength: [Int64: [Int32]] = [:]
        for index in checkup.files(where: { !$0.isCountedElsewhere }) {
            let file = checkup.file(index)
            switch file.kind {
            case .item:
                if let length = file.facts?.contentLength { byLength[length, default: []].append(index) }
            case .promoted, .foreign: byLength[file.length, default: []].append(index)
            default: break
            }
        }
        var byContent: [Content: [Int32]] = [:]
        for (length, indices) in byLength where length >= Self.smallest && indices.count > 1 {
            for index in indices {
                guard let checksum = checksum(index, &checkup) else { continue }
                byContent[Content(length: length, checksum: checksum), default: []].append(index)
            }
        }
        let twice = byContent.values.filter { $0.count > 1 }.map { $0.sorted() }
        for indices in twice.sorted(by: { $0[0] < $1[0] }) {
            let paths = indices.map { checkup.inventory.path(of: checkup.file($0)) }
            let others =
                paths[1..<min(paths.count, 4)].map(\.displayText).joined(separator: ", ")
                + (paths.count > 4 ? " and \(paths.count - 4) more" : "")
            checkup.report(self, indices, at: paths[0], "its content is also that of \(others)")
        }
    }

    private func checksum(_ index: Int32, _ checkup: inout Checkup) -> UInt64? {
        let (fileSystem, codecs) = (checkup.fileSystem, checkup.codecs)
        let isItem = checkup.file(index).kind == .item
        return checkup.look(at: index) { file throws(ItemFormatError) in
            if isItem { return try ItemReader(file, of: fileSystem, codecs: codecs).footer.contentChecksum }
            var checksum = ContentChecksum()
            do throws(FileSystemError) {
                try fileSystem.forEachPiece(of: file) { piece, _ throws(FileSystemError) in
                    checksum.update(piece)
                }
            } catch {
                throw .fileSystem(error)
            }
            return checksum.finalize()
        }
    }
}

internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// A stored absolute path, which becomes invalid with the next update of the app.
struct StoredAbsolutePath: StorageRule {
    let info = RuleInfo(
        "absolute-path", .error, .fileSystem,
        "Stored data contains an absolute path: the path of a container changes with every update.",
        fix: "Store the area and the path below it.")

    /// In bytes. Files that list paths are smaller; larger files hold content.
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
                    checkup.report(self, index, "its key or source contains an absolute path")
                }
            } else if let bytes = checkup.beginning(of: index, count: Int(checkup.file(index).length)),
                needles.contains(where: { Data(bytes).range(of: Data($0.utf8)) != nil })
            {
                checkup.report(self, index, "its content contains an absolute path")
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

/// Files with the same content.
struct SameContentTwice: StorageRule {
    let info = RuleInfo(
        "same-content-twice", .warning, .fileSystem,
        "The same content (of 4 KiB or more) is in two places.",
        fix: "Keep it in one place; for another name a hard link will do.")

    private static let smallest: Int64 = 4096
    /// The number of bytes compared first for files of equal length, at most ``smallest``.
    private static let beginning: Int64 = 4096

    func check(_ checkup: inout Checkup) {
        var byLength: [Int64: [Int32]] = [:]
        for index in checkup.files(where: { !$0.isCountedElsewhere }) {
            let file = checkup.file(index)
            switch file.kind {
            case .item:
                if let length = file.facts?.contentBytes { byLength[length, default: []].append(index) }
            case .promoted, .foreign: byLength[file.length, default: []].append(index)
            default: break
            }
        }
        var twice: [[Int32]] = []
        for (length, indices) in byLength where length >= Self.smallest && indices.count > 1 {
            for alike in similar(indices, length, &checkup) {
                twice += groups(of: alike) { checksum($0, &checkup) }
            }
        }
        for indices in twice.sorted(by: { $0[0] < $1[0] }) {
            let paths = indices.map { checkup.inventory.path(of: checkup.file($0)) }
            let others =
                paths[1..<min(paths.count, 4)].map(\.displayText).joined(separator: ", ")
                + (paths.count > 4 ? " and \(paths.count - 4) more" : "")
            checkup.report(self, indices, at: paths[0], "it has the same content as \(others)")
        }
    }

    /// Groups of at least two files with the same `mark`, each in the given order.
    private func groups(of indices: [Int32], by mark: (Int32) -> UInt64?) -> [[Int32]] {
        var groups: [UInt64: [Int32]] = [:]
        for index in indices {
            if let mark = mark(index) { groups[mark, default: []].append(index) }
        }
        return groups.values.filter { $0.count > 1 }
    }

    /// Groups files of equal length by their first bytes, unless comparing complete files is cheaper: the checksum of
    /// an item is already in its footer, while its first bytes require decoding at least one chunk.
    private func similar(_ indices: [Int32], _ length: Int64, _ checkup: inout Checkup) -> [[Int32]] {
        let items = Double(indices.count { checkup.file($0).kind == .item })
        let decoded = items * Double(min(length, Int64(ItemLimits.chunkBytes)))
        let read = (Double(indices.count) - items) * Double(length)
        guard decoded < read else { return [indices] }
        return groups(of: indices) { beginning(of: $0, &checkup) }
    }

    private func beginning(of index: Int32, _ checkup: inout Checkup) -> UInt64? {
        let (fileSystem, codecs) = (checkup.fileSystem, checkup.codecs)
        let isItem = checkup.file(index).kind == .item
        return checkup.look(at: index) { file in
            guard isItem else { return try fileSystem.contentChecksum(of: file, count: Self.beginning) }
            var checksum = ContentChecksum()
            var pieces = try ItemReader(file, of: fileSystem, codecs: codecs).pieces(of: 0..<Self.beginning)
            while let piece = try pieces.next() { checksum.update(piece) }
            return checksum.finalize()
        }
    }

    private func checksum(_ index: Int32, _ checkup: inout Checkup) -> UInt64? {
        let (fileSystem, codecs) = (checkup.fileSystem, checkup.codecs)
        let file = checkup.file(index)
        return checkup.look(at: index) { descriptor in
            file.kind == .item
                ? try ItemReader(descriptor, of: fileSystem, codecs: codecs).footer.contentChecksum
                : try fileSystem.contentChecksum(of: descriptor, count: file.length)
        }
    }
}

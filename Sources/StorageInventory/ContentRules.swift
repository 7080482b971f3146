internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// A stored absolute path, which becomes invalid with the next update of the app.
struct StoredAbsolutePath: StorageRule {
    let info = RuleInfo(
        "absolute-path", .error, [.b6],
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
        "same-content-twice", .warning, [.t35],
        "The same content is in two places.",
        fix: "Keep it in one place; for another name a hard link will do.")

    /// In bytes. Where all are items, smaller ones are not compared: they hardly take space, and there are many.
    private static let smallestItem: Int64 = 4096
    /// In bytes. Shorter content, such as that of two empty settings files, is alike by chance.
    private static let smallest: Int64 = 16
    /// The number of bytes compared first for files of equal length.
    private static let beginning: Int64 = 4096

    func check(_ checkup: inout Checkup) {
        var byLength: [Int64: [Int32]] = [:]
        for index in checkup.files(where: { !$0.isCountedElsewhere }) {
            let file = checkup.file(index)
            switch file.kind {
            case .item:
                if let length = file.facts?.contentBytes { byLength[length, default: []].append(index) }
            case .promoted, .foreign:
                // Preferences and such are the system's.
                if file.area != nil, !isMostlyHoles(file) { byLength[file.length, default: []].append(index) }
            default: break
            }
        }
        var twice: [[Int32]] = []
        for (length, indices) in byLength where length >= Self.smallest && indices.count > 1 {
            guard length >= Self.smallestItem || indices.contains(where: { checkup.file($0).kind != .item })
            else { continue }
            for alike in similar(indices, length, &checkup) {
                twice += groups(of: alike) { checksum($0, &checkup) }
            }
        }
        for indices in twice.sorted(by: { $0[0] < $1[0] }) {
            let paths = checkup.pathsInOrder(of: indices)
            let others =
                paths[1..<min(paths.count, 4)].map(\.displayText).joined(separator: ", ")
                + (paths.count > 4 ? " and \(paths.count - 4) more" : "")
            checkup.report(self, indices, at: paths[0], "it has the same content as \(others)")
        }
    }

    /// Whether a file takes hardly anything of the volume, so that a second one would not either, and may be far longer than
    /// the volume. Where files are compressed, or small ones stored with their names, they are no holes.
    private func isMostlyHoles(_ file: InventoryFile) -> Bool {
        file.length > 1 << 20 && file.allocated < file.length / 64
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
        return groups(of: indices) { beginning(of: $0, min(length, Self.beginning), &checkup) }
    }

    private func beginning(of index: Int32, _ count: Int64, _ checkup: inout Checkup) -> UInt64? {
        let (fileSystem, codecs) = (checkup.fileSystem, checkup.codecs)
        let isItem = checkup.file(index).kind == .item
        return checkup.look(at: index) { file in
            guard isItem else { return try fileSystem.contentChecksum(of: file, count: count) }
            var checksum = ContentChecksum()
            var pieces = try ItemReader(file, of: fileSystem, codecs: codecs).pieces(of: 0..<count)
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

/// Copies of a document of the user's that are no longer the same.
struct DivergedCopies: StorageRule {
    let info = RuleInfo(
        "diverged-copies", .warning, [.t35],
        "Files of one name, but with different content, are in several places for the user's documents.",
        fix: "Let the user choose one, and keep it in one place.")

    private static let areas: Set<Area?> = [.documents, .iCloudDrive, .applicationSupport]

    func check(_ checkup: inout Checkup) {
        let packages = checkup.packages
        let candidates = checkup.files {
            ($0.kind == .foreign || $0.kind == .promoted) && $0.length > 0 && !$0.isCountedElsewhere
                && Self.areas.contains($0.area) && packages[Int($0.folder)] == nil
        }
        // Swift's `==` takes names for the same that are only canonically equivalent: so do people.
        var byName: [String: [Int32]] = [:]
        for index in candidates where isDocument(index, checkup) {
            byName[checkup.file(index).name.string, default: []].append(index)
        }
        let copies = byName.values.filter { isDiverged($0, checkup) }.sorted { $0[0] < $1[0] }
        for indices in copies {
            // Those of the same content were reported as such. Of those that cannot be read, nobody knows.
            guard indices.allSatisfy({ checkup.beginning(of: $0, count: 1) != nil }) else { continue }
            let paths = checkup.pathsInOrder(of: indices)
            checkup.report(
                self, indices, at: paths[0],
                "it differs from \(paths.dropFirst().map(\.displayText).joined(separator: ", "))")
        }
    }

    private func isDocument(_ index: Int32, _ checkup: Checkup) -> Bool {
        if checkup.file(index).isVisible { return true }
        let type = checkup.type(of: index)
        return type == .text || type?.isDocument == true
    }

    /// Whether files are in several areas, in one of which the user sees them, and not all were put there by the cache.
    private func isDiverged(_ indices: [Int32], _ checkup: Checkup) -> Bool {
        let files = indices.map(checkup.file)
        return Set(files.map(\.area)).count > 1 && files.contains(where: \.isVisible)
            && files.contains { $0.kind == .foreign }
    }
}

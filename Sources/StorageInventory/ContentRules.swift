internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

extension Checkup {
    /// A stored absolute path, which becomes invalid with the next update of the app.
    mutating func findAbsolutePaths() {
        // Strings that identify an absolute path of a container.
        let place = inventory.place
        let ofAreas = [place.areas.documents, place.areas.applicationSupport, place.areas.caches]
        let needles =
            ["/Containers/Data/Application/"]
            + (place.container.map { [$0] } ?? ofAreas).map { $0.string + "/" }
        let files = self.files { file in
            if let facts = file.facts, Self.contains(needles, facts.key, facts.source) { return true }
            // Files that list paths are smaller; larger ones hold content.
            guard file.kind == .foreign || file.kind == .configuration, file.length <= 4 << 20,
                file.area == .applicationSupport || file.area == nil
            else { return false }
            return file.name.extension.map {
                ["archive", "db", "json", "plist", "sqlite", "sqlite3", "xml"].contains($0.lowercased())
            } ?? false
        }
        for index in files {
            if let facts = file(index).facts {
                if Self.contains(needles, facts.key, facts.source) {
                    report(index, "its key or source contains an absolute path")
                }
            } else if let bytes = beginning(of: index, count: Int(file(index).length)),
                needles.contains(where: { Data(bytes).range(of: Data($0.utf8)) != nil })
            {
                report(index, "its content contains an absolute path")
            }
        }
    }

    private static func contains(_ needles: [String], _ key: String, _ source: String?) -> Bool {
        needles.contains { key.contains($0) || source?.contains($0) == true }
    }

    /// In bytes. Where all are items, smaller ones are not compared: they hardly take space, and there are many.
    private static let smallestItem: Int64 = 4096
    /// In bytes. Shorter content, such as that of two empty settings files, is alike by chance.
    private static let smallest: Int64 = 16
    /// The number of bytes compared first for files of equal length.
    private static let beginning: Int64 = 4096

    /// Files with the same content.
    mutating func findSameContent() {
        var byLength: [Int64: [Int32]] = [:]
        for index in files(where: { !$0.isCountedElsewhere }) {
            let file = self.file(index)
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
            guard length >= Self.smallestItem || indices.contains(where: { file($0).kind != .item })
            else { continue }
            for alike in similar(indices, length) {
                twice += groups(of: alike) { checksum($0) }
            }
        }
        for indices in twice.sorted(by: { $0[0] < $1[0] }) {
            let paths = pathsInOrder(of: indices)
            let others =
                paths[1..<min(paths.count, 4)].map(\.displayText).joined(separator: ", ")
                + (paths.count > 4 ? " and \(paths.count - 4) more" : "")
            report(indices, at: paths[0], "it has the same content as \(others)")
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
    private mutating func similar(_ indices: [Int32], _ length: Int64) -> [[Int32]] {
        let items = Double(indices.count { file($0).kind == .item })
        let decoded = items * Double(min(length, Int64(ItemLimits.chunkBytes)))
        let read = (Double(indices.count) - items) * Double(length)
        guard decoded < read else { return [indices] }
        return groups(of: indices) { beginningChecksum($0, min(length, Self.beginning)) }
    }

    private mutating func beginningChecksum(_ index: Int32, _ count: Int64) -> UInt64? {
        let (fileSystem, codecs) = (fileSystem, codecs)
        let isItem = file(index).kind == .item
        return look(at: index) { file in
            guard isItem else { return try fileSystem.contentChecksum(of: file, count: count) }
            var checksum = ContentChecksum()
            var pieces = try ItemReader(file, of: fileSystem, codecs: codecs).pieces(of: 0..<count)
            while let piece = try pieces.next() { checksum.update(piece) }
            return checksum.finalize()
        }
    }

    private mutating func checksum(_ index: Int32) -> UInt64? {
        let (fileSystem, codecs) = (fileSystem, codecs)
        let file = self.file(index)
        return look(at: index) { descriptor in
            file.kind == .item
                ? try ItemReader(descriptor, of: fileSystem, codecs: codecs).footer.contentChecksum
                : try fileSystem.contentChecksum(of: descriptor, count: file.length)
        }
    }

    /// Copies of a document of the user's that are no longer the same.
    mutating func findDivergedCopies() {
        let candidates = files {
            ($0.kind == .foreign || $0.kind == .promoted) && $0.length > 0 && !$0.isCountedElsewhere
                && [.documents, .iCloudDrive, .applicationSupport].contains($0.area)
                && packages[Int($0.folder)] == nil
        }
        // Swift's `==` takes names for the same that are only canonically equivalent: so do people.
        var byName: [String: [Int32]] = [:]
        for index in candidates where isDocument(index) {
            byName[file(index).name.string, default: []].append(index)
        }
        let copies = byName.values.filter { isDiverged($0) }.sorted { $0[0] < $1[0] }
        for indices in copies {
            // Those of the same content were reported as such. Of those that cannot be read, nobody knows.
            guard indices.allSatisfy({ beginning(of: $0, count: 1) != nil }) else { continue }
            let paths = pathsInOrder(of: indices)
            report(
                indices, at: paths[0],
                "it differs from \(paths.dropFirst().map(\.displayText).joined(separator: ", "))")
        }
    }

    private func isDocument(_ index: Int32) -> Bool {
        if file(index).isVisible { return true }
        let type = self.type(of: index)
        return type == .text || type?.isDocument == true
    }

    /// Whether files are in several areas, in one of which the user sees them, and not all were put there by the cache.
    private func isDiverged(_ indices: [Int32]) -> Bool {
        let files = indices.map(file)
        return Set(files.map(\.area)).count > 1 && files.contains(where: \.isVisible)
            && files.contains { $0.kind == .foreign }
    }
}

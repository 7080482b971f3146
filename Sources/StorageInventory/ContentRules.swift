internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

// What is wrong by the content of files.

extension Checkup {
    mutating func findAbsolutePaths() {
        let areas = inventory.place.areas
        let roots =
            inventory.place.container.map { [$0] }
            ?? [areas.documents, areas.applicationSupport, areas.caches]
        let needles = ["/Containers/Data/Application/"] + roots.map { $0.string + "/" }
        let endings: Set = ["archive", "db", "json", "plist", "sqlite", "sqlite3", "xml"]
        for index in files(where: { _ in true }) {
            let file = file(index)
            if let facts = file.facts {
                let texts = [facts.key] + [facts.source].compactMap(\.self)
                if needles.contains(where: { needle in texts.contains { $0.contains(needle) } }) {
                    report([index], "its key or source contains an absolute path")
                }
                continue
            }
            // Files that list paths are smaller; larger ones hold content.
            guard file.kind == .foreign || file.kind == .configuration, file.length <= 4 << 20,
                file.area == .applicationSupport || file.area == nil,
                let ending = file.name.extension, endings.contains(ending.lowercased()),
                let bytes = beginning(of: index, count: Int(file.length))
            else { continue }
            if needles.contains(where: { Data(bytes).range(of: Data($0.utf8)) != nil }) {
                report([index], "its content contains an absolute path")
            }
        }
    }

    /// In bytes. Where all are items, smaller ones are not compared: they hardly take space, and there are many.
    private static let smallestItem: Int64 = 4096
    /// In bytes. Shorter content, such as that of two empty settings files, is alike by chance.
    private static let smallest: Int64 = 16
    /// The number of bytes compared first for files of equal length.
    private static let beginning: Int64 = 4096

    mutating func findSameContent() {
        var byLength: [Int64: [Int]] = [:]
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
        var twice: [[Int]] = []
        for (length, indices) in byLength where length >= Self.smallest && indices.count > 1 {
            guard length >= Self.smallestItem || indices.contains(where: { file($0).kind != .item })
            else { continue }
            for alike in similar(indices, length) {
                twice += groups(of: alike) { checksum($0, of: length) }
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
    private func groups(of indices: [Int], by mark: (Int) -> UInt64?) -> [[Int]] {
        var groups: [UInt64: [Int]] = [:]
        for index in indices {
            if let mark = mark(index) { groups[mark, default: []].append(index) }
        }
        return groups.values.filter { $0.count > 1 }
    }

    /// Groups files of equal length by their first bytes, unless comparing complete files is cheaper: the checksum of
    /// an item is already in its footer, while its first bytes require decoding at least one chunk.
    private mutating func similar(_ indices: [Int], _ length: Int64) -> [[Int]] {
        let items = Double(indices.count { file($0).kind == .item })
        let decoded = items * Double(min(length, Int64(ItemLimits.chunkBytes)))
        let read = (Double(indices.count) - items) * Double(length)
        guard decoded < read else { return [indices] }
        return groups(of: indices) { checksum($0, of: min(length, Self.beginning)) }
    }

    /// The checksum of the first bytes of a file's content.
    private mutating func checksum(_ index: Int, of count: Int64) -> UInt64? {
        let facts = file(index).kind == .item ? file(index).facts : nil
        return look(at: index) { [codecs] file, fileSystem in
            guard let facts else { return try fileSystem.contentChecksum(of: file, count: count) }
            let item = try ItemReader(file, of: fileSystem, codecs: codecs)
            if count == facts.contentBytes { return item.footer.contentChecksum }
            var checksum = ContentChecksum()
            var pieces = try item.pieces(of: 0..<count)
            while let piece = try pieces.next() { checksum.update(piece) }
            return checksum.finalize()
        }
    }

    /// Copies of a document of the user's that are no longer the same.
    mutating func findDivergedCopies() {
        let candidates = files {
            ($0.kind == .foreign || $0.kind == .promoted) && $0.length > 0 && !$0.isCountedElsewhere
                && [.documents, .iCloudDrive, .applicationSupport].contains($0.area)
                && packages[$0.folder] == nil
        }
        // Swift's `==` takes names for the same that are only canonically equivalent: so do people.
        var byName: [String: [Int]] = [:]
        for index in candidates {
            let type = type(of: index)
            guard file(index).isVisible || type == .text || type?.isDocument == true else { continue }
            byName[file(index).name.string, default: []].append(index)
        }
        for indices in byName.values.filter(isDiverged).sorted(by: { $0[0] < $1[0] }) {
            // Those of the same content were reported as such. Of those that cannot be read, nobody knows.
            guard indices.allSatisfy({ beginning(of: $0, count: 1) != nil }) else { continue }
            let paths = pathsInOrder(of: indices)
            let others = paths.dropFirst().map(\.displayText).joined(separator: ", ")
            report(indices, at: paths[0], "it differs from \(others)")
        }
    }

    /// Whether files are in several areas, in one of which the user sees them, and not all were put there by the cache.
    private func isDiverged(_ indices: [Int]) -> Bool {
        let files = indices.map(file)
        return Set(files.map(\.area)).count > 1 && files.contains(where: \.isVisible)
            && files.contains { $0.kind == .foreign }
    }

    /// The paths of files in an order that does not depend on the walk: by area, Documents first, then by path.
    private func pathsInOrder(of indices: [Int]) -> [FilePath] {
        indices.map { (area: file($0).area?.rawValue ?? .max, path: inventory.path(of: file($0))) }
            .sorted { ($0.area, $0.path.string) < ($1.area, $1.path.string) }.map(\.path)
    }
}

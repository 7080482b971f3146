internal import FileSystem
internal import ItemFormat
internal import PrefetchCache
internal import SystemPackage

/// The same content in several places.
struct SameContentTwice: StorageRule {
    let info = RuleInfo(
        name: "same-content-twice", severity: .warning,
        explanation: "The same content (of 4 KiB or more) is in two places.",
        guideline: Guideline.fileSystem, fix: "Keep it in one place; for another name a hard link will do.")

    private static let smallest: Int64 = 4096
    /// Bytes of files of equal length that are compared first, at most ``smallest``.
    private static let beginning: Int64 = 4096

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
            checkup.report(self, indices, at: paths[0], "its content is also that of \(others)")
        }
    }

    /// The groups of at least two files with the same mark, each in the given order.
    private func groups(of indices: [Int32], by mark: (Int32) -> UInt64?) -> [[Int32]] {
        var groups: [UInt64: [Int32]] = [:]
        for index in indices {
            if let mark = mark(index) { groups[mark, default: []].append(index) }
        }
        return groups.values.filter { $0.count > 1 }
    }

    /// Groups files of equal length by their beginnings, unless comparing them whole costs less: the checksum of
    /// an item is known, while its beginning has to be decoded, at least one chunk.
    private func similar(_ indices: [Int32], _ length: Int64, _ checkup: inout Checkup) -> [[Int32]] {
        let items = Double(indices.count { checkup.file($0).kind == .item })
        let decoded = items * Double(min(length, Int64(ItemLimits.chunkLength)))
        let read = (Double(indices.count) - items) * Double(length)
        guard decoded < read else { return [indices] }
        return groups(of: indices) { beginning(of: $0, &checkup) }
    }

    private func beginning(of index: Int32, _ checkup: inout Checkup) -> UInt64? {
        let (fileSystem, codecs) = (checkup.fileSystem, checkup.codecs)
        let isItem = checkup.file(index).kind == .item
        return checkup.look(at: index) { file throws(ItemFormatError) in
            guard isItem else { return try checksum(of: file, count: Self.beginning, in: fileSystem) }
            var checksum = ContentChecksum()
            try ItemReader(file, of: fileSystem, codecs: codecs).stream(0..<Self.beginning) {
                checksum.update($0)
            }
            return checksum.finalize()
        }
    }

    private func checksum(_ index: Int32, _ checkup: inout Checkup) -> UInt64? {
        let (fileSystem, codecs) = (checkup.fileSystem, checkup.codecs)
        let file = checkup.file(index)
        return checkup.look(at: index) { descriptor throws(ItemFormatError) in
            guard file.kind == .item else {
                return try checksum(of: descriptor, count: file.length, in: fileSystem)
            }
            return try ItemReader(descriptor, of: fileSystem, codecs: codecs).footer.contentChecksum
        }
    }

    private func checksum(of file: Descriptor, count: Int64, in fileSystem: any FileSystem)
        throws(ItemFormatError) -> UInt64
    {
        do throws(FileSystemError) {
            return try fileSystem.contentChecksum(of: file, count: count)
        } catch {
            throw .fileSystem(error)
        }
    }
}

package import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Tells whether the file of a promotion is still what was promoted: one judgement for all that mark, purge, replace, verify
/// and check files.
///
/// A file is known by its inode and its time of creation. In a container that was copied or restored as a whole no file has
/// the inode that was recorded, but either it has kept the time, or the folder of the ledger is younger than the promotions in
/// it. There, what has the recorded name and the recorded content is the file.
package struct FileJudge: Sendable {
    package enum Verdict: Sendable {
        /// It is the file that was promoted, with the content that it had.
        case untouched
        /// It has other content: its user's.
        case changed
        /// It has the same content, but is another file: one that was there before, or that somebody has put there.
        case replaced
    }

    /// The folder of the cache in Application Support, which holds the ledger.
    private let root: Directory
    private var fileSystem: any FileSystem { root.fileSystem }

    init(root: Directory) {
        self.root = root
    }

    /// - Parameter support: The root of Application Support.
    /// - Returns: `nil` when there is no cache in it.
    package init?(support: Directory) throws(FileSystemError) {
        guard let root = try support.open(CacheLayout.root) else { return nil }
        self.root = root
    }

    /// - Parameter area: The root of the area of the entry.
    /// - Returns: `nil` when there is nothing of its kind under its name.
    package func verdict(on entry: LedgerEntry, in area: Directory) throws(FileSystemError) -> Verdict? {
        let path = entry.location.relative
        guard let folder = try area.open(path.removingLastComponent()) else { return nil }
        do {
            return try fileSystem.withFile(entry.name.path, in: folder.descriptor, entry.examiningMode) {
                file throws(FileSystemError) in try verdict(on: file, of: entry)
            }
        } catch {
            guard error.isNotFound || error.isNotRegularFile else { throw error }
            return nil
        }
    }

    func verdict(on file: Descriptor, of entry: LedgerEntry) throws(FileSystemError) -> Verdict {
        guard try hasContent(file, of: entry) else { return .changed }
        return try isItself(file, of: entry) ? .untouched : .replaced
    }

    /// Whether the verdict is ``Verdict/untouched``. Nothing is read of what is another file.
    func isUntouched(_ file: Descriptor, of entry: LedgerEntry) throws(FileSystemError) -> Bool {
        guard try isItself(file, of: entry) else { return false }
        return try hasContent(file, of: entry)
    }

    /// Whether a file with the recorded content is the one that was promoted.
    func isItself(_ file: Descriptor, of entry: LedgerEntry) throws(FileSystemError) -> Bool {
        if try isRecorded(file, by: entry) { return true }
        guard entry.origin == .written else { return false }
        if let birthTime = entry.birthTime, try fileSystem.birthTime(of: file) == birthTime { return true }
        return try isOfCopy(entry)
    }

    /// Whether a file is the one that was written for an entry, by the identity that was recorded.
    func isRecorded(_ file: Descriptor, by entry: LedgerEntry) throws(FileSystemError) -> Bool {
        guard entry.origin == .written, try fileSystem.attributes(of: file).identity.inode == entry.inode
        else { return false }
        guard let birthTime = entry.birthTime else { return true }
        return try fileSystem.birthTime(of: file) == birthTime
    }

    /// Whether the ledger was copied since the promotion of an entry, and with it the file that was written for it.
    private func isOfCopy(_ entry: LedgerEntry) throws(FileSystemError) -> Bool {
        guard let created = try fileSystem.birthTime(of: root.descriptor) else { return false }
        // Both, since the clock may have been changed in between.
        let written = entry.birthTime.map { $0 / 1_000_000 } ?? entry.openedAt
        return created / 1_000_000 > max(entry.openedAt, written)
    }

    /// Whether an open file, or the folder of a bundle, has just the content that was promoted.
    private func hasContent(_ file: Descriptor, of entry: LedgerEntry) throws(FileSystemError) -> Bool {
        guard entry.parts.isEmpty else {
            let bundle = BundleFolder(file, entry.parts, fileSystem)
            guard try bundle.photograph() != nil else { return false }
            return try bundle.contentChecksum() == entry.contentChecksum
        }
        let attributes = try fileSystem.attributes(of: file)
        guard attributes.kind == .regular, attributes.length == entry.contentBytes else { return false }
        return try fileSystem.contentChecksum(of: file) == entry.contentChecksum
    }
}

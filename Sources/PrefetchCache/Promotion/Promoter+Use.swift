internal import FileSystem
internal import Logging

/// When a promoted file was used last.
extension Promoter {
    /// As often as the kernel does by itself under `relatime`.
    private static let dayInNanoseconds: Int64 = 86_400_000_000_000

    /// Notes that an excluded file is about to be used, in its access time: many volumes keep none of their own,
    /// and those of phones do not.
    func noteUse(of entry: LedgerEntry) {
        guard entry.backup == .exclude else { return }
        do {
            guard let folder = try existingFolder(of: entry) else { return }
            // A clock past 2262, where nanoseconds end, notes no use.
            let (now, isTooLate) = environment.now().multipliedReportingOverflow(by: 1_000_000)
            guard !isTooLate else { return }
            try onDestination(entry) { () throws(FileSystemError) in
                try fileSystem.withFile(entry.name.path, in: folder.descriptor, .readUnnoticed) {
                    file throws(FileSystemError) in
                    guard let last = try fileSystem.accessTime(of: file), last < now - Self.dayInNanoseconds
                    else { return }
                    try fileSystem.setAccessTime(now, of: file)
                }
            }
        } catch {
            // The file is its user's, who may have written-protected it. It is opened all the same.
            environment.logger.debug(
                "The use of a file is not noted.", metadata: ["key": "\(entry.key)", "error": "\(error)"])
        }
    }

    /// When an open file was used last, in milliseconds since 1970, as far as anybody knows.
    func lastUse(_ file: Descriptor, of entry: LedgerEntry) throws(CacheError) -> Int64 {
        let modified = try attributes(of: file).modified
        let accessed = try onFiles { () throws(FileSystemError) in try fileSystem.accessTime(of: file) }
        return max(entry.openedAt, max(modified, accessed ?? .min) / 1_000_000)
    }
}

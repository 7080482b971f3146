internal import FileSystem
internal import Logging

/// When a promoted file was last used.
extension Promoter {
    /// The interval at which the kernel updates access times under `relatime`.
    private static let dayInNanoseconds: Int64 = 86_400_000_000_000

    /// Records that an excluded file is about to be used, in its access time: many volumes, such as those of
    /// phones, do not record accesses themselves.
    func noteUse(of entry: LedgerEntry) {
        guard entry.backup == .exclude else { return }
        do {
            guard let folder = try existingFolder(of: entry) else { return }
            // Times after 2262 exceed 64-bit nanoseconds; no use is recorded.
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
            // The file is the user's, who may have made it read-only. It is opened all the same.
            environment.logger.debug(
                "The use of a file is not noted.", metadata: ["key": "\(entry.key)", "error": "\(error)"])
        }
    }

    /// When an open file was last used, in milliseconds since 1970, as far as is known.
    func lastUse(_ file: Descriptor, of entry: LedgerEntry) throws(CacheError) -> Int64 {
        let modified = try attributes(of: file).modified
        let accessed = try onFiles { () throws(FileSystemError) in try fileSystem.accessTime(of: file) }
        return max(entry.openedAt, max(modified, accessed ?? .min) / 1_000_000)
    }
}

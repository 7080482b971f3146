public import Foundation
internal import PrefetchFileSystem
public import PrefetchItemFormat
public import PrefetchStorageAreas
internal import SystemPackage

/// Removing promoted files that are excluded from backups and have not been used for a long time.
extension Engine {
    /// - Parameters:
    ///   - time: Milliseconds since 1970.
    ///   - isDryRun: If `true`, only reports what would be removed.
    func purgeExcluded(unusedSince time: Int64, isDryRun: Bool) throws(CacheError) -> PurgeReport {
        var report = PurgeReport()
        try ledger.forEachCommitted { entry throws(CacheError) in
            guard entry.backup == .exclude, entry.openedAt < time else { return }
            try promoter.locks.hold(entry.key.hash) { () throws(CacheError) in
                // Forgotten, or promoted again, since the ledger was read.
                guard try ledger.entry(for: entry.key) == entry else { return }
                do throws(CacheError) {
                    try purge(entry, unusedSince: time, isDryRun: isDryRun, &report)
                } catch {
                    // One file that cannot be removed must not prevent the removal of others, nor hide what was removed.
                    switch error {
                    case .destination, .destinationUnavailable, .fileSystem:
                        report.failures.append(
                            PurgeReport.Failure(key: entry.key, location: entry.location, error: error))
                    default: throw error
                    }
                }
            }
        }
        return report
    }

    /// The caller holds the lock of the key.
    private func purge(
        _ entry: LedgerEntry, unusedSince time: Int64, isDryRun: Bool, _ report: inout PurgeReport
    ) throws(CacheError) {
        guard let folder = try destinations.existingFolder(of: entry),
            let file = try files.openWithoutAccessTime(entry, in: folder)
        else { return }
        defer { environment.fileSystem.close(file) }
        let found = try files.attributes(of: file)
        guard found.kind == entry.kind else { return }
        let bundle = entry.parts.isEmpty ? nil : BundleFolder(file, entry.parts, environment.fileSystem)
        let lastUse = try files.lastUse(file, of: entry)
        guard lastUse < time else { return }
        let photograph = try onFiles(bundle?.photograph())
        let purged = PurgeReport.File(
            key: entry.key, location: entry.location,
            fileBytes: bundle == nil ? found.length : entry.contentBytes, lastUsedAt: lastUse)
        guard try destinations.onDestination(entry, files.judge.isUntouched(file, of: entry)) else {
            return report.changed.append(purged)
        }
        guard try promoter.sharer(of: found.identity, with: entry) == nil else {
            return report.shared.append(purged)
        }
        guard !isDryRun else { return report.purged.append(purged) }
        let staging = try destinations.stagingFolder(for: folder, entry.area, entry.folder)
        var failure: CacheError?
        // Looking at its content took a while.
        func isInUse() -> Bool {
            do throws(CacheError) {
                return try files.lastUse(file, of: entry) >= time
            } catch {
                failure = error
                return true
            }
        }
        // The file first: with an entry but no file the key can be stored again, but a file without an entry would be
        // untracked.
        let removal = try destinations.onDestination(entry) { () throws(FileSystemError) in
            let aside = files.nextAsideName(entry.key)
            guard let bundle else {
                return try files.removal.remove(
                    file, found, entry.name, in: folder, by: aside, in: staging, unless: isInUse)
            }
            return try files.removal.remove(
                bundle, photograph ?? [], entry.name, in: folder, by: aside,
                and: FilePath(files.nextStagedName(entry.key)), in: staging, unless: isInUse)
        }
        if let failure { throw failure }
        switch removal {
        case .removed: report.purged.append(purged)
        case .missing: return
        case .putBack(let name):
            var place = entry
            place.name = name
            return report.changed.append(
                PurgeReport.File(
                    key: entry.key, location: place.location,
                    fileBytes: try bundle == nil
                        ? files.attributes(of: place, in: folder)?.length ?? found.length
                        : entry.contentBytes,
                    lastUsedAt: lastUse))
        }
        try destinations.onDestination(entry) { () throws(FileSystemError) in
            // Without an entry, a file that reappeared there after a power cut could not be given its name back.
            try environment.fileSystem.synchronize(staging.descriptor)
            try environment.fileSystem.synchronize(folder.descriptor)
        }
        try ledger.remove(entry)
        promoter.tidy(after: entry)
    }
}

/// What a purge of excluded files removed, or would remove.
public struct PurgeReport: Hashable, Sendable {
    /// A promoted file that has not been used for a long time.
    public struct File: Hashable, Sendable {
        /// The key of the item.
        public let key: ItemKey
        /// The location of the file.
        public let location: AreaPath
        /// Bytes of the file.
        public let fileBytes: Int64
        package let lastUsedAt: Int64

        /// When the file was last used.
        public var lastUseDate: Date { Date(milliseconds: lastUsedAt) }
    }

    /// A file that could not be inspected or removed.
    public struct Failure: Hashable, Sendable {
        /// The key of the item.
        public let key: ItemKey
        /// The location of the file.
        public let location: AreaPath
        /// Why it could not be inspected or removed.
        public let error: CacheError
    }

    /// The files that were removed, or would be.
    public internal(set) var purged: [File] = []
    /// The files that stay because they are not, or no longer, what was promoted: the user has changed or replaced
    /// them, or they were there before with the same content.
    public internal(set) var changed: [File] = []
    /// The files that stay because another key was promoted to the same file.
    public internal(set) var shared: [File] = []
    /// What could not be inspected or removed.
    public internal(set) var failures: [Failure] = []

    /// The total length in bytes of the files that were removed, or would be.
    public var purgedBytes: Int64 { purged.reduce(0) { $0 + $1.fileBytes } }
}

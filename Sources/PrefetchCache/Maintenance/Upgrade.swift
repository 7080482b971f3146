internal import FileSystem
internal import SystemPackage

/// What became of stored data in the format of another version, or would become of it.
package struct UpgradeReport: Hashable, Sendable {
    /// Versions of one file.
    package struct Versions: Hashable, Sendable {
        /// What was found.
        package let before: Int
        /// What there is now, or would be.
        package let after: Int

        package var isChange: Bool { before != after }
    }

    /// Made anew from the items where its version was another one, older or newer; `nil` where there is none.
    package internal(set) var catalog: Versions?
    /// Brought up to date; `nil` where there is none.
    package internal(set) var ledger: Versions?

    /// Whether anything had another version.
    package var isChange: Bool { catalog?.isChange == true || ledger?.isChange == true }
}

extension PrefetchCache {
    /// Brings stored data of older versions of this package up to date: a ledger is migrated, a catalog made anew
    /// from the items. It happens by itself when they are used; this does it now, and tells.
    ///
    /// For a process that has opened the cache without settling and done nothing with it yet: the ledger is copied to be
    /// looked at, and with the copied file's descriptor the process's own locks on it would go.
    ///
    /// - Parameter isDryRun: Whether it is only told what would be done, and nothing is.
    /// - Throws: ``CacheError/newerLedger(version:)``, ``CacheError/fileSystem(_:)`` and
    ///   ``CacheError/database(name:message:)``.
    /// - Complexity: O(n) in the items where the catalog is made anew, and in the promotions.
    package func upgrade(dryRun isDryRun: Bool) async throws(CacheError) -> UpgradeReport {
        try await run { engine throws(CacheError) in try engine.upgrade(isDryRun: isDryRun) }
    }
}

extension Engine {
    func upgrade(isDryRun: Bool) throws(CacheError) -> UpgradeReport {
        let fileSystem = environment.fileSystem
        let support = try onFiles { () throws(FileSystemError) in
            let area = folders.areas.applicationSupport
            return Directory(
                try fileSystem.open(area, in: .workingDirectory, .directoryFollowingLinks), of: fileSystem)
        }
        var report = UpgradeReport()
        if let version = try LedgerSnapshot(in: support)?.version {
            report.ledger = UpgradeReport.Versions(before: version, after: LedgerSchema.version)
            // Whoever reads it brings it up to date.
            if !isDryRun { _ = try ledger.intents() }
        }
        if let version = try CatalogView.version(in: folders) {
            if !isDryRun, version != CatalogSchema.version { try catalog.reading { _ in } }
            let after = isDryRun ? CatalogSchema.version : try CatalogView.version(in: folders)
            report.catalog = UpgradeReport.Versions(before: version, after: after ?? version)
        }
        return report
    }
}

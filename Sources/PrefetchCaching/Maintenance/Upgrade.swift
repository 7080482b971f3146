internal import PrefetchFileSystem
internal import SystemPackage

/// What was done, or would be done, to upgrade stored data of another version.
package struct UpgradeReport: Hashable, Sendable {
    /// The versions of one file.
    package struct Versions: Hashable, Sendable {
        /// The version that was found.
        package let before: Int
        /// The current version or, in a dry run, the one after an upgrade.
        package let after: Int

        package var isChange: Bool { before != after }
    }

    /// The catalog, rebuilt from the items if it had any other version; `nil` when there is none.
    package internal(set) var catalog: Versions?
    /// The ledger, migrated if it had an older version; `nil` when there is none.
    package internal(set) var ledger: Versions?
}

extension PrefetchCache {
    /// Upgrades the stored data of other versions of this package: migrates the ledger, and rebuilds the catalog from
    /// the items. This otherwise happens when they are next used; this does it now, and reports it.
    ///
    /// - Parameter isDryRun: If `true`, only reports what would be done.
    /// - Throws: ``CacheError/newerLedger(version:)``, ``CacheError/fileSystem(_:)`` and
    ///   ``CacheError/database(name:message:)``.
    /// - Complexity: O(n) in the promotions and, if the catalog is rebuilt, in the items.
    package func upgrade(dryRun isDryRun: Bool) async throws(CacheError) -> UpgradeReport {
        try await run { engine throws(CacheError) in try engine.upgrade(isDryRun: isDryRun) }
    }
}

extension Engine {
    func upgrade(isDryRun: Bool) throws(CacheError) -> UpgradeReport {
        let fileSystem = environment.fileSystem
        let support = try onFiles(Directory(at: folders.areas.applicationSupport, in: fileSystem))
        var report = UpgradeReport()
        if let version = try LedgerSnapshot(in: support, at: folders.areas.applicationSupport)?.version {
            report.ledger = UpgradeReport.Versions(before: version, after: LedgerSchema.version)
            // Opening the ledger for a change migrates it.
            if !isDryRun { try ledger.make([]) }
        }
        if let version = try CatalogView.version(in: folders) {
            if !isDryRun, version != CatalogSchema.version { try catalog.reading { _ in } }
            let after = isDryRun ? CatalogSchema.version : try CatalogView.version(in: folders)
            report.catalog = UpgradeReport.Versions(before: version, after: after ?? version)
        }
        return report
    }
}

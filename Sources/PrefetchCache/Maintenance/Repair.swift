internal import FileSystem
internal import ItemFormat
internal import Logging
internal import StorageAreas
internal import SystemPackage

/// Repairs what a look at the disk shows to be wrong, and reports it. All of it happens under the usual
/// locks, so that others may use the cache meanwhile; nothing that is not ours is touched.
///
/// Each part finds first and acts second, and a dry run does not act. Used by one thread.
final class Repair {
    let engine: Engine
    let isDryRun: Bool
    var report = RepairReport()

    var environment: CacheEnvironment { engine.environment }
    var fileSystem: any FileSystem { engine.environment.fileSystem }

    init(_ engine: Engine, isDryRun: Bool) {
        self.engine = engine
        self.isDryRun = isDryRun
    }

    func run() throws(CacheError) -> RepairReport {
        let staging = AreaPath.ours(CacheLayout.staging, in: .applicationSupport)
        let incoming = AreaPath.ours(CacheLayout.incoming, in: .caches)
        attempt(staging) { () throws(CacheError) in try settlePromotions() }
        // Before anything else is removed, since the rows of those files are deleted with them.
        attempt(.catalog) { () throws(CacheError) in try forgetLostFiles() }
        attempt(incoming) { () throws(CacheError) in try removeOrphans() }
        attempt(incoming) { () throws(CacheError) in try removeUselessPartials() }
        attempt(.catalog) { () throws(CacheError) in try repairCatalog() }
        attempt(.quarantine) { () throws(CacheError) in try emptyQuarantine() }
        attempt(.catalog) { () throws(CacheError) in try recount() }
        attempt(staging) { () throws(CacheError) in try renewMarks() }
        if !isDryRun { try engine.flush() }
        return report
    }

    func note(
        _ action: RepairReport.Action, _ location: AreaPath, key: ItemKey? = nil, _ remark: String? = nil
    ) {
        report.steps.append(.init(action: action, location: location, key: key, remark: remark))
    }

    /// Runs one part of the repair. A failure is reported, and does not prevent the other parts.
    func attempt(_ location: AreaPath, _ body: () throws(CacheError) -> Void) {
        do {
            try body()
        } catch {
            report.failures.append(.init(location: location, error: error))
        }
    }
}

extension AreaPath {
    static let catalog = ours(FilePath(CacheLayout.catalog), in: .caches)
    static let quarantine = ours(CacheLayout.quarantine, in: .caches)
}

extension Engine {
    /// Runs all parts of a repair.
    ///
    /// - Parameter isDryRun: If `true`, only reports what would be done.
    func repair(isDryRun: Bool) throws(CacheError) -> RepairReport {
        try Repair(self, isDryRun: isDryRun).run()
    }
}

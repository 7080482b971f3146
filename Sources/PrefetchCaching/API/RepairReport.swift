public import PrefetchItemFormat
public import PrefetchStorageAreas

/// What a repair did, or would do, file by file.
public struct RepairReport: Hashable, Sendable {
    /// One repair of one file.
    public struct Step: Hashable, Sendable {
        /// What was done, or would be.
        public let action: Action
        /// The location of the file, which may be gone.
        public let location: AreaPath
        /// The key of the item; `nil` if unknown.
        public let key: ItemKey?
        /// Details, if there are any.
        public let remark: String?
    }

    /// The kinds of repairs. The raw values are stable names.
    public enum Action: String, Hashable, Sendable, CaseIterable {
        /// A promotion that a crash interrupted is completed, or undone if it failed.
        case promotionResolved
        /// A file in a staging folder that belongs to no promotion and cannot be resumed is removed.
        case stagedFileRemoved
        /// A partial of a dead writer, or a kept partial that can never be resumed, is removed.
        case partialRemoved
        /// An item with a damaged footer is moved to the quarantine.
        case itemQuarantined
        /// An item that the system has emptied is removed.
        case purgedItemRemoved
        /// A missing row of an item is added to the catalog.
        case rowAdded
        /// The row of a file that is gone is removed from the catalog.
        case rowRemoved
        /// The catalog's row of an item is corrected to match its file.
        case rowCorrected
        /// The catalog is rebuilt from the items.
        case catalogRebuilt
        /// The sums of the catalog are corrected to match its rows, and its charges the volume's smaller blocks.
        case statisticsCorrected
        /// A quarantined item is removed.
        case quarantinedItemRemoved
        /// The lost mark of a file or folder that is excluded from backups is restored.
        case markRestored
    }

    /// A part that could not be inspected or repaired.
    public struct Failure: Hashable, Sendable {
        /// The location of the failure.
        public let location: AreaPath
        /// Why it could not be inspected or repaired.
        public let error: CacheError
    }

    /// A file that stays without the mark that excludes it from backups.
    public struct Skipped: Hashable, Sendable {
        /// The location of the file.
        public let location: AreaPath
        /// The key of the item.
        public let key: ItemKey
        /// Why it is taken for its user's own.
        public let reason: String
    }

    /// The repairs, in order.
    public internal(set) var steps: [Step] = []
    /// The files that stay without their mark, since they are not, or no longer, what was opened.
    public internal(set) var skipped: [Skipped] = []
    /// What could not be inspected or repaired.
    public internal(set) var failures: [Failure] = []
}

/// What a repair has found so far. Used by one thread.
final class RepairLog {
    /// Whether to report only, and to change nothing.
    let isDryRun: Bool
    private(set) var report = RepairReport()

    init(isDryRun: Bool = false) {
        self.isDryRun = isDryRun
    }

    func note(
        _ action: RepairReport.Action, _ location: AreaPath, key: ItemKey? = nil, _ remark: String? = nil
    ) {
        report.steps.append(.init(action: action, location: location, key: key, remark: remark))
    }

    func skip(_ location: AreaPath, _ key: ItemKey, _ reason: String) {
        report.skipped.append(.init(location: location, key: key, reason: reason))
    }

    func note(_ failure: CacheError, _ location: AreaPath) {
        report.failures.append(.init(location: location, error: failure.reported))
    }

    /// Runs one part of the repair. A failure is reported, and does not prevent the other parts.
    func attempt(_ location: @autoclosure () -> AreaPath, _ body: () throws(CacheError) -> Void) {
        do {
            try body()
        } catch {
            note(error, location())
        }
    }
}

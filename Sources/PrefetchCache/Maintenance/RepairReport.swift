public import ItemFormat
public import StorageAreas

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
        /// A promotion that a crash interrupted is completed, or taken back if it came to nothing.
        case promotionSettled
        /// A file in a staging folder that belongs to no promotion is removed.
        case stagedFileRemoved
        /// A partial of a dead writer, or a kept partial that can never be resumed, is removed.
        case partialRemoved
        /// An item with a damaged footer is moved to the quarantine.
        case itemSetAside
        /// An item that the system has emptied is removed.
        case purgedItemRemoved
        /// The catalog gets a row for an item that it lacked.
        case rowAdded
        /// The catalog loses the row of a file that is gone.
        case rowRemoved
        /// The catalog's row of an item is made to match its file.
        case rowCorrected
        /// The catalog is rebuilt from the items.
        case catalogRemade
        /// The sums of the catalog are made to match its rows, and these the smaller blocks of the volume.
        case statisticsCorrected
        /// A quarantined item is removed.
        case quarantinedItemRemoved
        /// A file or folder that is excluded from backups gets its mark again.
        case markRenewed
    }

    /// A part that could not be inspected or repaired.
    public struct Failure: Hashable, Sendable {
        /// The location of the failure.
        public let location: AreaPath
        /// Why it could not be inspected or repaired.
        public let error: CacheError
    }

    /// The repairs, in order.
    public internal(set) var steps: [Step] = []
    /// What could not be inspected or repaired.
    public internal(set) var failures: [Failure] = []
}

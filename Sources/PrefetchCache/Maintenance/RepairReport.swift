public import ItemFormat
public import StorageAreas

/// What a repair did, or would do, file by file.
public struct RepairReport: Hashable, Sendable {
    public struct Step: Hashable, Sendable {
        public let action: Action
        /// Where the file is, or was.
        public let location: AreaPath
        /// `nil` where nobody can tell.
        public let key: ItemKey?
        /// What there is to say beside the action.
        public let remark: String?
    }

    /// The raw values are stable names.
    public enum Action: String, Hashable, Sendable, CaseIterable {
        /// A promotion that a crash interrupted is completed, or taken back where nothing came of it.
        case promotionSettled
        /// A file in a staging folder that no promotion knows is removed.
        case stagedFileRemoved
        /// What a writer that is no more has left, or what is kept of an item and can never be resumed, is
        /// removed.
        case partialRemoved
        /// An item whose footer is damaged goes to the quarantine.
        case itemSetAside
        /// An item that the system has emptied is removed.
        case purgedItemRemoved
        /// The catalog gets a row for an item that it did not know.
        case rowAdded
        /// The catalog loses the row of an item that is not there.
        case rowRemoved
        /// The catalog's row of an item is made to fit its file.
        case rowCorrected
        /// The catalog is made anew from the items.
        case catalogRemade
        /// The sums that the catalog keeps are made to fit its rows.
        case statisticsCorrected
        /// A damaged item that was set aside is removed.
        case quarantinedItemRemoved
        /// A file or folder that is excluded from backups gets its mark again.
        case markRenewed
    }

    /// Something that could not be looked at or put right.
    public struct Failure: Hashable, Sendable {
        public let location: AreaPath
        public let error: CacheError
    }

    /// In the order in which it was done.
    public internal(set) var steps: [Step] = []
    public internal(set) var failures: [Failure] = []
}

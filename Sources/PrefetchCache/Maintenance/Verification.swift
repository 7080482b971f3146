public import ItemFormat
public import StorageAreas

/// What a verification is to look at, and what it does with what it finds.
public struct VerificationRequest: Hashable, Sendable {
    /// How many files to verify, chosen at random; `nil` for all.
    public var sample: Int?
    /// Chooses the sample: of the same files the same seed chooses the same.
    public var seed: UInt64
    /// Whether damaged items are set aside, as by a reader who meets them. Otherwise nothing is changed.
    public var isRepairing: Bool

    public init(sample: Int? = nil, seed: UInt64 = 0, isRepairing: Bool = false) {
        self.sample = sample
        self.seed = seed
        self.isRepairing = isRepairing
    }
}

/// One file that is not as it should be, or not as it was.
public struct VerificationFinding: Hashable, Sendable {
    public enum Verdict: Hashable, Sendable {
        /// The bytes are not those that were stored, or not those that were handed over, and nobody is known
        /// to have changed them.
        case damaged(ItemFormatError)
        /// A promoted file that was changed or replaced after it was handed over: its user's right.
        case modified
        /// It is known and is not there: the system purged the item, or its user took the file away.
        case missing
        /// Written by a newer version of this package, and left alone.
        case newerFormat(version: UInt16)
        /// It could not be read to its end.
        case unreadable(CacheError)
    }

    /// `nil` for an item so damaged that it does not tell, and that the catalog does not know.
    public let key: ItemKey?
    public let location: AreaPath
    /// Whether the item was opened: a file of the user's.
    public let isPromoted: Bool
    public let verdict: Verdict
    /// Whether the file was set aside.
    public internal(set) var isSetAside = false
}

/// How far a verification has come.
public struct VerificationProgress: Hashable, Sendable {
    public let files: Int
    /// Bytes of content that were read.
    public let bytes: Int64
    /// The number of files, as far as the catalog and the ledger tell.
    public let totalFiles: Int
    /// The bytes of their contents; `nil` for a sample.
    public let totalBytes: Int64?
}

/// What a verification has found.
public struct VerificationReport: Hashable, Sendable {
    /// Items whose content was read to its end, and is what was stored.
    public internal(set) var verifiedItems = 0
    /// Promoted files that hold just what was handed over.
    public internal(set) var verifiedFiles = 0
    /// All other files, in no particular order. The only part that grows, with what is wrong.
    public internal(set) var findings: [VerificationFinding] = []
    /// Bytes of content that were read.
    public internal(set) var bytes: Int64 = 0
    public internal(set) var duration = Duration.zero
    /// Whether all was verified that was asked for; `false` after the task was cancelled.
    public internal(set) var isComplete = true

    public var damaged: Int { findings.count { if case .damaged = $0.verdict { true } else { false } } }
    public var modified: Int { findings.count { $0.verdict == .modified } }
    public var missing: Int { findings.count { $0.verdict == .missing } }
    public var newerFormat: Int {
        findings.count { if case .newerFormat = $0.verdict { true } else { false } }
    }
    public var unreadable: Int { findings.count { if case .unreadable = $0.verdict { true } else { false } } }
    public var setAside: Int { findings.count(where: \.isSetAside) }
}

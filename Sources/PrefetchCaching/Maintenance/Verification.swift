public import PrefetchItemFormat
public import PrefetchStorageAreas

/// What to verify, and what to do with damaged items.
public struct VerificationRequest: Hashable, Sendable {
    /// How many files to verify, chosen at random; `nil` for all.
    public var sample: Int?
    /// Determines the sample: for the same files, the same seed chooses the same sample.
    public var seed: UInt64
    /// Whether to quarantine damaged items and remove emptied ones, as a read would. Otherwise nothing is
    /// changed.
    public var isRepairing: Bool

    /// Creates a request; by default, to verify all files and change nothing.
    public init(sample: Int? = nil, seed: UInt64 = 0, isRepairing: Bool = false) {
        self.sample = sample
        self.seed = seed
        self.isRepairing = isRepairing
    }
}

/// A file that is not as expected, or not as it was.
public struct VerificationFinding: Hashable, Sendable {
    /// What is wrong with a file.
    public enum Verdict: Hashable, Sendable {
        /// The content differs from what was stored or promoted, and there is no sign that it was written to.
        case damaged(ItemFormatError)
        /// A promoted file that was changed or replaced after the promotion, as the user may do.
        case modified
        /// A promoted file whose content iCloud has removed from this device. Reading would download it.
        case notOnDevice
        /// A known file that is gone: the system purged the item, or the user moved or deleted the file.
        case missing
        /// The item was written by a newer version of this package and was left alone.
        case newerFormat(version: UInt16)
        /// The file could not be read to its end, or the folder could not be listed.
        case unreadable(CacheError)
    }

    /// The key; `nil` for an item whose footer is damaged and that the catalog does not know, and for a folder of items
    /// that cannot be listed.
    public let key: ItemKey?
    /// The location of the file.
    public let location: AreaPath
    /// Whether the item was opened, so that the file is the user's.
    public let isPromoted: Bool
    /// What is wrong with the file.
    public let verdict: Verdict
    /// Whether the file was moved to the quarantine.
    public internal(set) var isQuarantined = false
}

/// The progress of a verification.
public struct VerificationProgress: Hashable, Sendable {
    /// The number of files that were verified.
    public let files: Int
    /// Bytes of content that were read.
    public let bytes: Int64
    /// The total number of files, according to the catalog and the ledger.
    public let totalFiles: Int
    /// Bytes of their contents; `nil` for a sample.
    public let totalBytes: Int64?
}

/// The result of a verification.
public struct VerificationReport: Hashable, Sendable {
    /// The number of items whose content was read to its end and is what was stored.
    public internal(set) var verifiedItems = 0
    /// The number of promoted files that hold exactly what was promoted.
    public internal(set) var verifiedFiles = 0
    /// All other files, in no particular order. The only part whose size depends on what is wrong.
    public internal(set) var findings: [VerificationFinding] = []
    /// Bytes of content that were read.
    public internal(set) var bytes: Int64 = 0
    /// How long the verification took.
    public internal(set) var duration = Duration.zero
    /// Whether everything requested was verified; `false` after the task was cancelled.
    public internal(set) var isComplete = true

    /// The number of findings with the verdict ``VerificationFinding/Verdict/damaged(_:)``.
    public var damaged: Int { findings.count { if case .damaged = $0.verdict { true } else { false } } }
    /// The number of findings with the verdict ``VerificationFinding/Verdict/modified``.
    public var modified: Int { findings.count { $0.verdict == .modified } }
    /// The number of findings with the verdict ``VerificationFinding/Verdict/notOnDevice``.
    public var notOnDevice: Int { findings.count { $0.verdict == .notOnDevice } }
    /// The number of findings with the verdict ``VerificationFinding/Verdict/missing``.
    public var missing: Int { findings.count { $0.verdict == .missing } }
    /// The number of findings with the verdict ``VerificationFinding/Verdict/newerFormat(version:)``.
    public var newerFormat: Int {
        findings.count { if case .newerFormat = $0.verdict { true } else { false } }
    }
    /// The number of findings with the verdict ``VerificationFinding/Verdict/unreadable(_:)``.
    public var unreadable: Int { findings.count { if case .unreadable = $0.verdict { true } else { false } } }
    /// The number of files that were moved to the quarantine.
    public var quarantined: Int { findings.count(where: \.isQuarantined) }
}

/// How much of a volume a cache may use, with every step of the derivation. All amounts are in bytes.
///
/// Computed by ``CapacityModel/capacity(of:cap:)``. Each amount is between 0 and the total, except ``cap``, ``quantum``
/// and, for a model with a ``CapacityModel/problem``, ``low``, ``reserve`` and ``share``, which are only guaranteed not
/// to be negative.
public struct Capacity: Hashable, Sendable {
    /// The input of the derivation: the given state after ``VolumeState/sanitized``.
    public let state: VolumeState
    /// The free space below which the volume is nearly full: min(T × ``CapacityModel/lowPerMille``,
    /// ``CapacityModel/lowLimit``).
    public let low: Int64
    /// The free space that opportunistic items must leave: min(T × ``CapacityModel/reservePerMille``,
    /// ``CapacityModel/reserveLimit``).
    public let reserve: Int64
    /// U + A: the bytes that are used by the cache or available, at most T. The cache's own writes and evictions do not
    /// change the sum.
    public let ownOrFree: Int64
    /// Room for user-requested items: A + U + P − low, from 0 to T; or as reported by the system.
    public let important: Int64
    /// Room for opportunistic items: A − reserve; or as reported by the system. From 0 to ``important``.
    public let opportunistic: Int64
    /// The part of ``ownOrFree`` that opportunistic items may use, in tiers: a large share of the first bytes, a
    /// smaller one of the next, and the smallest of the rest.
    public let share: Int64
    /// The bytes that the cache could hold while leaving the reserve free: U + A − reserve; or U + ``opportunistic`` if
    /// that was reported by the system. From 0 to T.
    public let room: Int64
    /// The largest budget allowed by the caller and the model on any volume.
    public let cap: Int64
    /// The rounding step of the budget: min(``CapacityModel/quantumLimit``, T ÷
    /// ``CapacityModel/quantumDivisor``), at least 1.
    public let quantum: Int64
    /// The maximum that may be charged to the cache: the smallest of ``room``, ``share`` and ``cap``. Unless that is the cap,
    /// it is rounded down to a multiple of ``quantum``. A budget above 0 leaves at least the ``reserve`` of U + A free, unless
    /// the system reported ``opportunistic``.
    public let budget: Int64
    /// Whether ``important`` was reported by the system rather than computed.
    public let isImportantReported: Bool
    /// Whether ``opportunistic`` was reported by the system rather than computed; ``room`` is then derived from it.
    public let isOpportunisticReported: Bool
    /// The thresholds of the pressure levels on this volume.
    public let thresholds: PressureThresholds
}

/// A snapshot of a volume's state, in bytes. The letters are those of ``CapacityModel``.
///
/// Any values are allowed; the model uses them ``sanitized``.
public struct VolumeState: Hashable, Sendable {
    /// *T*: the size of the volume.
    public var total: Int64
    /// *A*: the bytes available to this user.
    public var available: Int64
    /// *U*: the cache's own bytes on this volume: the charges of evictable items and of work in progress. Includes
    /// items that cannot be evicted now because they are pinned or being read.
    public var evictable: Int64
    /// *P*: other bytes that the system would purge for important data. The cache does not measure them: they
    /// are 0 unless given.
    public var purgeable: Int64
    /// The capacity reported by the system, if any.
    public var reported: ReportedCapacity?

    /// Creates a state from values in bytes.
    public init(
        total: Int64, available: Int64, evictable: Int64 = 0, purgeable: Int64 = 0,
        reported: ReportedCapacity? = nil
    ) {
        self.total = total
        self.available = available
        self.evictable = evictable
        self.purgeable = purgeable
        self.reported = reported
    }

    /// The same state with every amount clamped to 0 through the total. Reported amounts are then either greater than 0
    /// or `nil`.
    public var sanitized: VolumeState {
        let total = max(0, total)
        return VolumeState(
            total: total,
            available: available.clamped(0, total),
            evictable: evictable.clamped(0, total),
            purgeable: purgeable.clamped(0, total),
            reported: reported?.sanitized(total: total))
    }
}

/// The capacity of a volume as reported by the system. Only values greater than 0 count: 0, negative values and `nil`
/// all mean "unknown".
///
/// Source: `volumeAvailableCapacityForImportantUsage` and `…ForOpportunisticUsage` of Apple's
/// `URLResourceValues`, which are 0 on exFAT, NTFS, SMB and at the login window.
public struct ReportedCapacity: Hashable, Sendable {
    /// Bytes for data that the user requested or the app needs, including what the system would purge for it.
    public var important: Int64?
    /// Bytes for data that the user has not requested.
    public var opportunistic: Int64?

    /// Creates a report from values in bytes.
    public init(important: Int64? = nil, opportunistic: Int64? = nil) {
        self.important = important
        self.opportunistic = opportunistic
    }

    /// The known values, at most `total` each; `nil` if none is known.
    func sanitized(total: Int64) -> ReportedCapacity? {
        func known(_ value: Int64?) -> Int64? { value.map { min($0, total) }.flatMap { $0 > 0 ? $0 : nil } }
        let known = ReportedCapacity(important: known(important), opportunistic: known(opportunistic))
        return known == ReportedCapacity() ? nil : known
    }
}

/// Computes the charge of a stored file against the budget.
public struct ChargedLength: Sendable, Hashable {
    /// The bytes that the file system needs in addition to the content of a file, for its inode and its directory
    /// entry: twice ext4's default inode size of 256 bytes.
    public static let overhead: Int64 = 512

    /// The volume's allocation unit in bytes.
    public let blockSize: Int64

    /// Creates a charge function for a volume.
    ///
    /// - Parameter blockSize: The volume's allocation unit in bytes. Implausible values, which are below 1 or above
    ///   1 MiB, count as 4 KiB.
    public init(blockSize: Int64) {
        self.blockSize = (1...(1 << 20)).contains(blockSize) ? blockSize : 4096
    }

    /// Returns `storedBytes` rounded up to whole blocks, plus ``overhead``. Saturates instead of
    /// overflowing.
    public func callAsFunction(storedBytes: Int64) -> Int64 {
        guard storedBytes < .max - blockSize - Self.overhead else { return .max }
        return (storedBytes + blockSize - 1) / blockSize * blockSize + Self.overhead
    }
}

/// The storage pressure on a volume, in order of severity.
public enum Pressure: String, Sendable, Hashable, CaseIterable, Codable, Comparable {
    /// More than the reserve is available.
    case normal
    /// The reserve is in use.
    case elevated
    /// The volume is nearly full.
    case low
    /// The volume is practically full.
    case critical

    private var severity: Int {
        switch self {
        case .normal: 0
        case .elevated: 1
        case .low: 2
        case .critical: 3
        }
    }

    public static func < (one: Pressure, other: Pressure) -> Bool {
        one.severity < other.severity
    }
}

/// The thresholds of the pressure levels on one volume, in available bytes.
///
/// The thresholds have hysteresis: a level ends at more available bytes than it begins, so that a volume near a
/// threshold does not oscillate.
public struct PressureThresholds: Hashable, Sendable {
    /// The two thresholds of one level, in available bytes, both at least 0.
    public struct Band: Hashable, Sendable {
        /// The level begins below this.
        public let enter: Int64
        /// The level ends at or above this, once it or a more severe one has begun. If this is less than ``enter``, the
        /// level ends at ``enter``.
        public let leave: Int64

        /// Creates a band from values in bytes.
        public init(enter: Int64, leave: Int64) {
            self.enter = enter
            self.leave = leave
        }

        func isActive(at available: Int64, begun: Bool) -> Bool {
            available < enter || (begun && available < leave)
        }
    }

    /// The thresholds of ``Pressure/elevated``.
    public let elevated: Band
    /// The thresholds of ``Pressure/low``.
    public let low: Band
    /// The thresholds of ``Pressure/critical``.
    public let critical: Band

    /// Creates the thresholds of all levels.
    public init(elevated: Band, low: Band, critical: Band) {
        self.elevated = elevated
        self.low = low
        self.critical = critical
    }

    /// The most severe level that is active with `available` bytes. A level is active below its ``Band/enter``, and, if
    /// `last` was at least as severe, below its ``Band/leave``. For a constant number of bytes the level is stable.
    ///
    /// - Parameter last: The level that this function returned last; initially `normal`.
    public func level(at available: Int64, after last: Pressure) -> Pressure {
        if critical.isActive(at: available, begun: last >= .critical) { return .critical }
        if low.isActive(at: available, begun: last >= .low) { return .low }
        if elevated.isActive(at: available, begun: last >= .elevated) { return .elevated }
        return .normal
    }
}

/// How much of a volume a cache may take, with every step of the derivation. All amounts are in bytes.
///
/// ``CapacityModel/capacity(of:cap:)`` computes it. Each amount is from 0 to the total, except ``cap``,
/// ``quantum``, and, in a model with a ``CapacityModel/problem``, ``low``, ``reserve`` and ``share``,
/// which are only guaranteed not to be negative.
public struct Capacity: Hashable, Sendable {
    /// The input of the derivation: the given state, ``VolumeState/sanitized``.
    public let state: VolumeState
    /// The free space below which the volume is nearly full: min(T × ``CapacityModel/lowPerMille``,
    /// ``CapacityModel/lowLimit``).
    public let low: Int64
    /// The free space that opportunistic items leave: min(T × ``CapacityModel/reservePerMille``,
    /// ``CapacityModel/reserveLimit``).
    public let reserve: Int64
    /// U + A: the bytes that are the cache's own or free, at most T. The cache's own writes and evictions
    /// do not change the sum.
    public let ownOrFree: Int64
    /// Room for items that the user requested: A + U + P − low, from 0 to T; or as the system reports it.
    public let important: Int64
    /// Room for opportunistic items: A − reserve; or as the system reports it. From 0 to
    /// ``important``.
    public let opportunistic: Int64
    /// The part of ``ownOrFree`` that opportunistic items may take: a large part of the first bytes, a
    /// smaller one of the next, the smallest of the rest.
    public let share: Int64
    /// The bytes that the cache could hold with the reserve left free: U + A − reserve; or
    /// U + ``opportunistic`` when the system reported that. From 0 to T.
    public let room: Int64
    /// The largest budget that the caller and the model allow on any volume.
    public let cap: Int64
    /// The rounding step of the budget: min(``CapacityModel/quantumLimit``, T ÷
    /// ``CapacityModel/quantumDivisor``), at least 1.
    public let quantum: Int64
    /// The most that the cache may be charged: the smallest of ``room``, ``share`` and ``cap``, rounded
    /// down to a multiple of ``quantum``. A budget above 0 leaves at least the ``reserve`` of U + A free,
    /// unless the system reported ``opportunistic``.
    public let budget: Int64
    /// Whether the system reported ``important``, rather than the model computing it.
    public let isImportantReported: Bool
    /// Whether the system reported ``opportunistic``, rather than the model computing it; ``room`` then
    /// follows from it.
    public let isOpportunisticReported: Bool
    /// Where the levels of pressure begin and end on this volume.
    public let thresholds: PressureThresholds
}

/// The known state of a volume at one moment, in bytes. The letters are those of ``CapacityModel``.
///
/// Any values may be given; the model uses them ``sanitized``.
public struct VolumeState: Hashable, Sendable {
    /// *T*: the size of the volume.
    public var total: Int64
    /// *A*: the bytes still available to this user.
    public var available: Int64
    /// *U*: the cache's own bytes on this volume: the charges of items that may be evicted, and of work
    /// under way. Items that are being read or are pinned are included, though they cannot be evicted now.
    public var evictable: Int64
    /// *P*: other bytes that the system would purge for something important. ``VolumeProbe`` does not
    /// determine them.
    public var purgeable: Int64
    /// The room that the system itself reports, if it does.
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

    /// The same state with every amount from 0 to the total: a negative one counts as 0, one above the
    /// total as the total. The amounts that the system reports are then either greater than 0 or `nil`.
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

/// The room on a volume as the system itself reports it. Only a value greater than 0 counts: 0, a
/// negative value and `nil` all mean "unknown".
///
/// Source: `volumeAvailableCapacityForImportantUsage` and `…ForOpportunisticUsage` of Apple's
/// `URLResourceValues`, which are 0 on exFAT, NTFS, SMB and at the login window.
public struct ReportedCapacity: Hashable, Sendable {
    /// Bytes for data that the user asked for or the app needs, including what the system would purge for it.
    public var important: Int64?
    /// Bytes for data that the user has not asked for.
    public var opportunistic: Int64?

    /// Creates a report from values in bytes.
    public init(important: Int64? = nil, opportunistic: Int64? = nil) {
        self.important = important
        self.opportunistic = opportunistic
    }

    /// The known values, none of them more than `total`; `nil` when none is known.
    func sanitized(total: Int64) -> ReportedCapacity? {
        let known = ReportedCapacity(
            important: important.flatMap { Self.known($0, total) },
            opportunistic: opportunistic.flatMap { Self.known($0, total) })
        return known == ReportedCapacity() ? nil : known
    }

    private static func known(_ value: Int64, _ total: Int64) -> Int64? {
        let bounded = min(value, total)
        return bounded > 0 ? bounded : nil
    }
}

/// The charge of a stored file against the budget.
public struct ChargedLength: Sendable, Hashable {
    /// The bytes that the file system keeps beside the content of a file: its inode and its name. 512 is
    /// twice ext4's default inode of 256 bytes, and leaves room for the entry in the folder.
    public static let overhead: Int64 = 512

    /// The volume's unit of allocation, in bytes.
    public let blockSize: Int64

    /// Creates a charge for files on a volume.
    ///
    /// - Parameter blockSize: The volume's unit of allocation, in bytes; 0 or less, or an absurd size over
    ///   1 MiB, counts as 4 KiB.
    public init(blockSize: Int64) {
        self.blockSize = (1...(1 << 20)).contains(blockSize) ? blockSize : 4096
    }

    /// Returns `storedLength` rounded up to whole blocks, plus ``overhead``. Saturates instead of
    /// overflowing.
    public func callAsFunction(storedLength: Int64) -> Int64 {
        guard storedLength < .max - blockSize - Self.overhead else { return .max }
        return (storedLength + blockSize - 1) / blockSize * blockSize + Self.overhead
    }
}

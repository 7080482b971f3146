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

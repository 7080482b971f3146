/// What is known about a volume at one moment, in bytes. The letters are those of ``CapacityModel``.
///
/// Any values may be given. They are used as ``sanitized`` says.
public struct VolumeState: Hashable, Sendable {
    /// *T*: the size of the volume.
    public var total: Int64
    /// *A*: what this user may still take.
    public var available: Int64
    /// *U*: our own bytes on this volume: what items are charged that may be evicted, and what is under
    /// way. Items that somebody reads or has pinned are among them, though they cannot be evicted now.
    public var evictable: Int64
    /// *P*: other bytes that the system would purge for something important. Nothing in ``VolumeProbe``
    /// finds them out.
    public var purgeable: Int64
    /// What the system itself says about the room, where it does.
    public var reported: ReportedCapacity?

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

    /// The same with every amount from 0 to the total: a negative one counts as 0, one above the total
    /// as the total. What the system reports is then either greater than 0 or `nil`.
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

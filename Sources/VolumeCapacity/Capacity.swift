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

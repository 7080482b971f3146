/// How much a cache may take of a volume, with every step that led there. All amounts are in bytes.
///
/// ``CapacityModel/capacity(of:cap:)`` computes it. Each amount is from 0 to the total, except ``cap``,
/// ``quantum``, and, in a model with a ``CapacityModel/problem``, ``low``, ``reserve`` and ``share``,
/// which only are not negative.
public struct Capacity: Hashable, Sendable {
    /// What the derivation starts from: the given state, ``VolumeState/sanitized``.
    public let state: VolumeState
    /// Below this the volume is nearly full: min(T × ``CapacityModel/lowPerMille``,
    /// ``CapacityModel/lowLimit``).
    public let low: Int64
    /// What opportunistic bytes leave free: min(T × ``CapacityModel/reservePerMille``,
    /// ``CapacityModel/reserveLimit``).
    public let reserve: Int64
    /// U + A: what is ours or free, at most T. Our own writes and evictions move bytes within it and so
    /// do not change it.
    public let ownOrFree: Int64
    /// Room for what the user asked for: A + U + P − low, from 0 to T; or what the system reports.
    public let important: Int64
    /// Room for what nobody asked for yet: A − reserve; or what the system reports. From 0 to
    /// ``important``.
    public let opportunistic: Int64
    /// The part of ``ownOrFree`` that a guess may take: so much of the first bytes, less of the next,
    /// least of the rest.
    public let share: Int64
    /// What the cache could hold with the reserve left free: U + A − reserve; or U + ``opportunistic``
    /// when the system reported that. From 0 to T.
    public let room: Int64
    /// The most that the caller and the model allow on any volume.
    public let cap: Int64
    /// The budget is a multiple of this: min(``CapacityModel/quantumLimit``, T ÷
    /// ``CapacityModel/quantumDivisor``), at least 1.
    public let quantum: Int64
    /// The most that the cache may be charged: the smallest of ``room``, ``share`` and ``cap``, rounded
    /// down to the ``quantum``. One above 0 leaves at least the ``reserve`` of U + A free, unless the
    /// system reported ``opportunistic``.
    public let budget: Int64
    /// ``important`` is what the system reported, not what the model computed.
    public let isImportantReported: Bool
    /// ``opportunistic`` is what the system reported, not what the model computed; so is ``room`` then.
    public let isOpportunisticReported: Bool
    /// Where the levels of pressure begin and end on this volume.
    public let thresholds: PressureThresholds
}

public import VolumeCapacity

/// Why the budget is what it is, and how much of it is used.
public struct CapacityReport: Hashable, Sendable {
    /// The volume, and every step from its free space to an automatic budget.
    public let capacity: Capacity
    /// The volume's level of pressure, with the hysteresis that all processes share.
    public let pressure: Pressure
    /// The budget as configured.
    public let configuredBudget: CacheConfiguration.Budget
    /// The budget in force, in bytes. An automatic one may be a little smaller than that of ``capacity``,
    /// since it grows only in larger steps.
    public let budgetBytes: Int64
    /// The most charged bytes allowed now: the budget, or what the volume can spare if that is less.
    public let ceilingBytes: Int64
    /// The most charged bytes that one item may take.
    public let largestItemBytes: Int64
    /// Charged bytes of all files of the cache: items, partials and quarantined items.
    public let chargedBytes: Int64
    /// Bytes that processes hold for stores under way, and in advance.
    public let heldBytes: Int64
    /// Bytes of the catalog, which count against the budget.
    public let catalogBytes: Int64
    /// The reason why nothing at all is admitted, or `nil`.
    public let refusal: Refusal?

    /// Bytes left for new items before anything is evicted.
    public var freeBytes: Int64 { max(0, ceilingBytes - chargedBytes - heldBytes - catalogBytes) }
}

public import VolumeCapacity

/// Why the budget is what it is, and what has been made of it.
public struct CapacityReport: Hashable, Sendable {
    /// The volume, and every step from its free space to an automatic budget.
    public let capacity: Capacity
    /// The level that the volume is at, with the hysteresis of all processes.
    public let pressure: Pressure
    /// What the configuration says of the budget.
    public let configuredBudget: CacheConfiguration.Budget
    /// The budget in force, in bytes. An automatic one may be a little less than that of ``capacity``: it
    /// grows only when that is worth it.
    public let budgetBytes: Int64
    /// What all that counts may be charged now: the budget, or what the volume can spare if that is less.
    public let ceilingBytes: Int64
    /// The most that one item may be charged.
    public let largestItemBytes: Int64
    /// What items are charged, and damaged files that were set aside.
    public let chargedBytes: Int64
    /// What processes hold for items under way, and in advance.
    public let heldBytes: Int64
    /// Bytes of the catalog, which count, too.
    public let catalogBytes: Int64
    /// Why nothing is admitted at all, or `nil`.
    public let refusal: Refusal?

    /// What is left for new items before anything is evicted.
    public var freeBytes: Int64 { max(0, ceilingBytes - chargedBytes - heldBytes - catalogBytes) }
}

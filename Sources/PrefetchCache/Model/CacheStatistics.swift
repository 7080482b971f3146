public import VolumeCapacity

/// What the cache holds, and what it did since its catalog was made.
public struct CacheStatistics: Hashable, Sendable {
    public init() {}

    public var items = 0
    /// Bytes of the originals of all items.
    public var contentBytes: Int64 = 0
    /// Bytes of all items' files.
    public var storedBytes: Int64 = 0
    /// Bytes that all files of the cache count against the budget. What processes hold for stores under
    /// way counts, too, and is not shown here.
    public var chargedBytes: Int64 = 0
    public var budgetBytes: Int64 = 0
    public var pressure = Pressure.normal
    /// Items that turned out damaged and were set aside; they are the first to be evicted.
    public var quarantinedItems = 0
    /// Partials that are kept and that nobody writes now; they go first when space is needed.
    public var partials = 0
    /// Bytes that they count against the budget; they are part of ``chargedBytes``.
    public var partialBytes: Int64 = 0

    public var hits: Int64 = 0
    public var misses: Int64 = 0
    public var stores: Int64 = 0
    public var promotions: Int64 = 0
    public var evictions: Int64 = 0
    /// Charged bytes of the evicted items.
    public var evictedBytes: Int64 = 0
    /// The reason of a refusal, see ``Refusal/reason``, and how often it was given.
    public var refusals: [String: Int64] = [:]

    /// Bytes of the catalog's own file.
    public var catalogBytes: Int64 = 0
}

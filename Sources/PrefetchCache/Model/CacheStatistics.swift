public import VolumeCapacity

/// What the cache holds, and what it has counted since its catalog was created.
public struct CacheStatistics: Hashable, Sendable {
    /// Creates statistics of an empty cache.
    public init() {}

    /// The number of cached items.
    public package(set) var items = 0
    /// Bytes of content of all items.
    public package(set) var contentBytes: Int64 = 0
    /// Stored bytes of all items: the lengths of their files.
    public package(set) var storedBytes: Int64 = 0
    /// Charged bytes of all files of the cache: items, partials and quarantined items. The catalog and the
    /// space held for stores under way count against the budget as well, and are not included.
    public package(set) var chargedBytes: Int64 = 0
    /// The budget in force, in bytes.
    public package(set) var budgetBytes: Int64 = 0
    /// The volume's level of pressure.
    public package(set) var pressure = Pressure.normal
    /// The number of damaged items in the quarantine. They are evicted before any item.
    public package(set) var quarantinedItems = 0
    /// The number of kept partials that no writer is using. They are evicted first of all.
    public package(set) var partials = 0
    /// Charged bytes of these partials, a part of ``chargedBytes``.
    public package(set) var partialBytes: Int64 = 0

    /// Reads that found an item or the file that it was promoted to.
    public package(set) var hits: Int64 = 0
    /// Reads and opens that found no item.
    public package(set) var misses: Int64 = 0
    /// Items that were stored in the cache.
    public package(set) var stores: Int64 = 0
    /// Items that were handed over to the user.
    public package(set) var promotions: Int64 = 0
    /// Files that were evicted: items, partials and quarantined items.
    public package(set) var evictions: Int64 = 0
    /// Charged bytes of these files.
    public package(set) var evictedBytes: Int64 = 0
    /// The number of refusals by their ``Refusal/reason``.
    public package(set) var refusals: [String: Int64] = [:]

    /// Bytes of the catalog's own file.
    public package(set) var catalogBytes: Int64 = 0
}

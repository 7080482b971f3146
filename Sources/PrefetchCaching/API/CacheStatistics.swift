public import PrefetchVolumeCapacity

/// What the cache holds, and what it has done.
public struct CacheStatistics: Hashable, Sendable {
    /// Creates statistics of an empty cache.
    public init() {}

    /// The number of cached items.
    public package(set) var items = 0
    /// Bytes of content of all items.
    public package(set) var contentBytes: Int64 = 0
    /// Stored bytes of all items: the lengths of their files.
    public package(set) var storedBytes: Int64 = 0
    /// Charged bytes of all files of the cache: items, partials and quarantined items. The catalog and the space
    /// reserved for stores under way also count against the budget, but are not included.
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

    /// What the cache has done since its history began. See ``PrefetchCache/history(since:)`` for days and sources.
    public package(set) var figures = PrefetchFigures()

    /// Bytes of the catalog's own file.
    public package(set) var catalogBytes: Int64 = 0
}

/// The sums that are asked for most, see ``figures``.
extension CacheStatistics {
    /// Opens and reads that found their item in the cache.
    public var hits: Int64 { figures.hits }
    /// Opens and reads that found no item.
    public var misses: Int64 { figures[.missed] }
    /// Items that were stored in the cache.
    public var stores: Int64 { figures[.stored] }
    /// Items that were opened, or went straight to their destination, and are the user's files.
    public var promotions: Int64 { figures[.opened] + figures[.delivered] }
    /// Items that were evicted: not those that were removed by their keys.
    public var evictions: Int64 { figures.evicted }
    /// Charged bytes of these items.
    public var evictedBytes: Int64 { figures[.evictedChargedBytes] }
    /// The number of refusals by their ``Refusal/reason``, without those that never occurred.
    public var refusals: [String: Int64] {
        Dictionary(
            uniqueKeysWithValues: Refusal.reasons.map { ($0, figures[$1]) }.filter { $0.1 > 0 })
    }
}

/// One line for logs: `12 items of 3400000 bytes; 3461120 of 20000000 bytes charged; 5 hits, 2 misses`.
extension CacheStatistics: CustomStringConvertible {
    public var description: String {
        "\(items) items of \(contentBytes) bytes; \(chargedBytes) of \(budgetBytes) bytes charged; \(hits) hits, "
            + "\(misses) misses" + (pressure == .normal ? "" : "; pressure \(pressure.rawValue)")
    }
}

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
    /// Bytes that processes have reserved, for stores under way and in advance.
    public let heldBytes: Int64
    /// Bytes of the catalog, which count against the budget.
    public let catalogBytes: Int64
    /// The reason why nothing at all is admitted, or `nil`.
    public let refusal: Refusal?

    /// Bytes left for new items before anything is evicted.
    public var freeBytes: Int64 { max(0, ceilingBytes - chargedBytes - heldBytes - catalogBytes) }
}

extension CapacityReport {
    init(_ snapshot: BudgetSnapshot, _ transaction: CatalogTransaction) throws {
        self.init(
            capacity: snapshot.capacity, pressure: snapshot.pressure,
            configuredBudget: snapshot.configuration.budget, budgetBytes: snapshot.budget,
            ceilingBytes: snapshot.ceiling, largestItemBytes: min(snapshot.largestItem, snapshot.ceiling),
            chargedBytes: try transaction.itemBytes(),
            heldBytes: try transaction.heldBytes(),
            catalogBytes: try transaction.catalogBytes(),
            refusal: BudgetSnapshot.refusal(snapshot.configuration, snapshot.pressure))
    }
}

/// The space that the cached items of one source take.
public struct SourceUsage: Hashable, Sendable {
    /// The feed or server; empty for items without one.
    public let source: String
    /// The number of items.
    public let items: Int
    /// Bytes of content.
    public let contentBytes: Int64
    /// Stored bytes: the lengths of the items' files.
    public let storedBytes: Int64
    /// Charged bytes, which count against the budget.
    public let chargedBytes: Int64
}

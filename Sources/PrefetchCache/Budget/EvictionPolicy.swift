internal import GRDB
internal import ItemFormat

/// Chooses which files to evict when space is needed.
///
/// A policy keeps its state in the catalog, so that all processes share it and it outlives them: an item's
/// position in the order of use, `lastUse`, which is assigned when the item is stored, and the mark
/// `isVisited`, which is clear then. Under every policy, kept partials come first, then quarantined files,
/// then items by ascending priority.
protocol EvictionPolicy: Sendable {
    /// Records that an item was used. `sequence` is the last number of the order of use; a policy that moves
    /// the item to a new position increments it.
    func noteUse(of hash: KeyHash, _ sequence: inout Int64, in database: Database) throws

    /// The next files to evict, in order.
    ///
    /// - Parameters:
    ///   - limit: The most files to return. Fewer may be returned, and none only when none are left.
    ///   - passedOver: Files that cannot be removed now, and must not be proposed again.
    func victims(atMost limit: Int, passingOver passedOver: Set<KeyHash>, in database: Database) throws
        -> [Victim]
}

/// The available policies. The raw value appears in `configuration.json`.
public enum EvictionPolicyChoice: String, Sendable, Hashable, CaseIterable, Codable {
    /// Evicts the least recently used item first. Exact, by a persisted order of use.
    case lru
    /// Evicts the item that was stored first, whether it was used or not.
    case fifo
    /// SIEVE: evicts the oldest item that was not used since a hand last passed it (Zhang, Yang, Yue,
    /// Vigfusson and Rashmi: "SIEVE is Simpler than LRU", NSDI 2024).
    case sieve

    var policy: any EvictionPolicy {
        switch self {
        case .lru: LeastRecentlyUsed()
        case .fifo: FirstInFirstOut()
        case .sieve: Sieve()
        }
    }
}

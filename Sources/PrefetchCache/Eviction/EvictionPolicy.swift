internal import GRDB
internal import ItemFormat

/// Decides who goes when space is needed.
///
/// A policy keeps what it must remember in the catalog, so that all processes share it and it survives
/// them: the place of an item in the order of use, `lastUse`, which is given when the item is stored,
/// and the mark `isVisited`, which is clear then. Kept partials, quarantined files and, after them,
/// items of lower priority come first under every policy.
protocol EvictionPolicy: Sendable {
    /// Notes that an item was used. `sequence` is the last number of the order of use; a policy that
    /// gives the item a new place counts it up.
    func noteUse(of hash: KeyHash, _ sequence: inout Int64, in database: Database) throws

    /// The next files to go, the first one first.
    ///
    /// - Parameters:
    ///   - limit: How many are wanted; fewer may be returned, none only when there are no more.
    ///   - passedOver: Files that cannot be removed now, and are not to be proposed again.
    func victims(atMost limit: Int, passingOver passedOver: Set<KeyHash>, in database: Database) throws
        -> [Victim]
}

/// The policies that there are. The raw value stands in `configuration.json`.
public enum EvictionPolicyChoice: String, Sendable, Hashable, CaseIterable, Codable {
    /// The least recently used item goes first. Exact, over a persisted order of use.
    case lru
    /// The item that was stored first goes first, whether it was used or not.
    case fifo
    /// SIEVE: the oldest item that was not used since a hand last passed it (Zhang, Yang, Yue, Vigfusson
    /// and Rashmi: "SIEVE is Simpler than LRU", NSDI 2024).
    case sieve

    var policy: any EvictionPolicy {
        switch self {
        case .lru: LeastRecentlyUsed()
        case .fifo: FirstInFirstOut()
        case .sieve: Sieve()
        }
    }
}

internal import PrefetchItemFormat

/// Chooses which files to evict when space is needed.
///
/// A policy chooses by what the catalog knows, which all processes share and which outlives them: among it an item's
/// position in the order of use, `lastUse`, which is assigned when the item is stored and again with each use. Under every
/// policy, kept partials come first, then quarantined files, then items by ascending priority.
protocol EvictionPolicy {
    /// What an item is worth that is about to be stored, on the scale of ``Victim/worth``; `nil` if the policy does not
    /// weigh it.
    func worth(of newcomer: Newcomer) -> Double?

    /// The next files to evict, in order.
    ///
    /// - Parameters:
    ///   - limit: The most files to return. Fewer may be returned, and none only when none are left.
    ///   - passedOver: Files that cannot be removed now and must not be returned again.
    func victims(
        atMost limit: Int, passingOver passedOver: Set<KeyHash>, in transaction: CatalogTransaction
    ) throws -> [Victim]
}

extension EvictionPolicy {
    func worth(of newcomer: Newcomer) -> Double? { nil }
}

/// The available policies. The raw value appears in `configuration.json`.
public enum EvictionPolicyChoice: String, Sendable, Hashable, CaseIterable, Codable {
    /// Evicts the least recently used item first. Exact, by a persisted order of use.
    case lru
    /// Evicts the item that is least likely to be opened still, for the space that it takes, and stores none that is worth
    /// less than what it would displace. What it knows of the sources comes from the history of all processes; without
    /// one it is LRU.
    case value
}

/// Evicts the item that was used, or stored, least recently.
struct InOrder: EvictionPolicy {
    func victims(
        atMost limit: Int, passingOver passedOver: Set<KeyHash>, in transaction: CatalogTransaction
    ) throws -> [Victim] {
        try transaction.victimsInOrder(atMost: limit, passingOver: passedOver)
    }
}

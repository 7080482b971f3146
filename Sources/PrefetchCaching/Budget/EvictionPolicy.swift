internal import PrefetchItemFormat

/// Chooses which files to evict when space is needed.
///
/// A policy keeps its state in the catalog, so that all processes share it and it outlives them: an item's position in
/// the order of use, `lastUse`, which is assigned when the item is stored, and the mark `isVisited`, which is initially
/// clear. Under every policy, kept partials come first, then quarantined files, then items by ascending priority.
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
    /// Evicts the item that was stored first, whether it was used or not.
    case fifo
    /// SIEVE: evicts the oldest item that was not used since a hand last passed it (Zhang, Yang, Yue,
    /// Vigfusson and Rashmi: "SIEVE is Simpler than LRU", NSDI 2024).
    case sieve
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

/// SIEVE (NSDI 2024): a hand moves from the oldest item to the newest, spares items that were used since it
/// last passed them, and evicts the first that was not. After the newest item it starts again.
///
/// The hand is a position in the order of storing, kept in the catalog. Items of different priorities form
/// different queues; the hand starts over when it enters another one.
struct Sieve: EvictionPolicy {
    /// The counter that holds the `lastUse` under the hand; 0 stands for the oldest item.
    private static let hand = "sieve.hand"

    /// Returns one victim at a time: the hand must not move past items that are then not evicted.
    func victims(
        atMost limit: Int, passingOver passedOver: Set<KeyHash>, in transaction: CatalogTransaction
    ) throws -> [Victim] {
        if let worthless = try transaction.firstVictimBesidesItems(passingOver: passedOver) {
            return [worthless]
        }
        var last = -1.0
        while let priority = try transaction.priority(above: last) {
            if let victim = try victim(ofPriority: priority, passingOver: passedOver, in: transaction) {
                return [victim]
            }
            last = priority
        }
        return []
    }

    private func victim(
        ofPriority priority: Double, passingOver passedOver: Set<KeyHash>, in transaction: CatalogTransaction
    ) throws -> Victim? {
        var start = try transaction.value(of: Self.hand)
        // From the hand to the newest, then a full round, then another, now that every mark is cleared.
        for _ in 0..<3 {
            if let victim = try victim(
                from: start, ofPriority: priority, passingOver: passedOver, in: transaction)
            {
                return victim
            }
            start = 0
        }
        return nil
    }

    /// Moves from `start` towards the newest item, clears marks, and stops at the first unmarked item.
    private func victim(
        from start: Int64, ofPriority priority: Double, passingOver passedOver: Set<KeyHash>,
        in transaction: CatalogTransaction
    ) throws -> Victim? {
        let found = try transaction.firstUnvisited(
            ofPriority: priority, from: start, passingOver: passedOver)
        try transaction.clearVisits(ofPriority: priority, in: start..<(found?.lastUse ?? .max))
        guard let (victim, place) = found else { return nil }
        let next = try transaction.lastUse(ofPriority: priority, after: place)
        try transaction.setValue(of: Self.hand, to: next ?? 0)
        return victim
    }
}

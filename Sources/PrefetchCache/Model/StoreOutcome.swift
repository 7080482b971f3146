public import ItemFormat
public import VolumeCapacity

/// What became of an item that a downloader wanted to store.
public enum StoreOutcome: Hashable, Sendable {
    case stored(ItemSummary)
    /// The user had asked for it: it went straight to its destination.
    case delivered(OpenedItem)
    case refused(Refusal)
}

/// Why an item was not stored. A refusal before the first byte costs no other item its place, and none
/// is a fault: the app asks again later, or never.
public enum Refusal: Hashable, Sendable {
    /// The volume is short of space.
    case pressure(Pressure)
    /// The item does not fit into the budget beside what may not be evicted. `needed` is what the item
    /// would be charged, as far as it is known; `budget` is what all may be charged now.
    case overBudget(needed: Int64, budget: Int64)
    /// Room could only be made by evicting items of a higher priority than that of the item.
    case lowPriority(Float)
    /// The item alone is larger than the largest that the cache takes.
    case largerThanLargestItem(needed: Int64, largest: Int64)
    /// The user has opened this key; it is a file of theirs now, and is not replaced.
    case alreadyPromoted
    /// Storing was switched off, see ``CacheConfiguration/isStoringEnabled``.
    case disabled

    /// The volume, or a quota on it, has no room for another byte.
    static let full = Refusal.pressure(.critical)

    /// A stable name, under which refusals are counted.
    public var reason: String {
        switch self {
        case .pressure: "pressure"
        case .overBudget: "overBudget"
        case .lowPriority: "lowPriority"
        case .largerThanLargestItem: "largerThanLargestItem"
        case .alreadyPromoted: "alreadyPromoted"
        case .disabled: "disabled"
        }
    }
}

extension Refusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .pressure(let level): "the volume is short of space (\(level.rawValue))"
        case .overBudget(let needed, let budget):
            "\(needed) bytes do not fit into the budget of \(budget) bytes"
        case .lowPriority(let priority):
            "only items of a higher priority than \(priority) could make room"
        case .largerThanLargestItem(let needed, let largest):
            "the item takes \(needed) bytes; the largest that the cache takes is \(largest) bytes"
        case .alreadyPromoted: "the item was opened before and is a file of the user's now"
        case .disabled: "storing is switched off"
        }
    }
}

public import ItemFormat

/// The result of looking an item up.
public enum Lookup<Value> {
    /// The item is there.
    case hit(Value)
    /// The item is not there, and why.
    case miss(Miss)

    /// The value of a hit; `nil` for a miss.
    public var value: Value? {
        switch self {
        case .hit(let value): value
        case .miss: nil
        }
    }
}

extension Lookup: Sendable where Value: Sendable {}

/// Why an item is not there.
public enum Miss: Error, Hashable, Sendable {
    /// The item was never stored, or was evicted or removed.
    case absent
    /// The item had expired, and was removed.
    case expired
    /// The system emptied the item's file.
    case purged
    /// The item's file does not hold what was stored, and was moved to the quarantine.
    case damaged(ItemFormatError)
    /// The item was written by a newer version of this package and was left alone.
    case newerFormat(version: UInt16)
}

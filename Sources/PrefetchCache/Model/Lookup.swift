public import ItemFormat

/// The answer to a question for an item.
public enum Lookup<Value> {
    case hit(Value)
    case miss(Miss)

    /// The value of a hit.
    public var value: Value? {
        switch self {
        case .hit(let value): value
        case .miss: nil
        }
    }
}

extension Lookup: Sendable where Value: Sendable {}

/// Why an item was not there.
public enum Miss: Error, Hashable, Sendable {
    /// It was never stored, or was evicted or removed.
    case absent
    /// It was stored for a time that is over, and was removed.
    case expired
    /// The system emptied its file.
    case purged
    /// Its file does not hold what was stored, and was set aside.
    case damaged(ItemFormatError)
    /// It was written by a newer version of this package, and was left alone.
    case newerFormat(version: UInt16)
}

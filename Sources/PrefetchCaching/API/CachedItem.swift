public import Foundation
public import PrefetchItemFormat
public import PrefetchStorageAreas

/// One cached item, as the catalog lists it.
public struct CachedItem: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The feed or server that the item came from; empty if none was given.
    public let source: String
    /// Why the item was stored.
    public let intent: Intent
    /// Where the item goes when it is opened; `nil` for an item that is only ever read.
    public let destination: Destination?
    /// How the content is encoded in the item's file.
    public let encoding: ItemEncoding
    /// Bytes of content.
    public let contentBytes: Int64
    /// Stored bytes: the length of the item's file.
    public let storedBytes: Int64
    /// Charged bytes, which count against the budget: the stored bytes rounded up to whole blocks, and 512
    /// more.
    public let chargedBytes: Int64
    /// The priority, from 0 to 1. Items of lower priority are evicted first.
    public let priority: Float
    package let storedAt: Int64
    package let expiresAt: Int64?
    /// The position in the order of use: the item with the smallest number was used the longest ago.
    public let lastUse: Int64

    /// When the item was stored.
    public var storedDate: Date { Date(milliseconds: storedAt) }
    /// When the item expires; `nil` for never.
    public var expirationDate: Date? { expiresAt.map(Date.init(milliseconds:)) }
    /// The location of the item's file.
    public var location: AreaPath { .item(key.hash) }
}

/// What the cache knows about a key.
public enum ItemStatus: Hashable, Sendable {
    /// The item is cached.
    case cached(CachedItem)
    /// The item was opened, and its file is the user's.
    case promoted(PromotedFile)
}

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

extension Lookup {
    func map<Other, Failure: Error>(_ transform: (Value) throws(Failure) -> Other) throws(Failure) -> Lookup<
        Other
    > {
        switch self {
        case .hit(let value): .hit(try transform(value))
        case .miss(let miss): .miss(miss)
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

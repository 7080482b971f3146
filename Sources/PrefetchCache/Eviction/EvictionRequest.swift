public import ItemFormat

/// Which items shall go.
///
/// ```swift
/// // What came from a feed that nobody follows any more, if it is older than a month.
/// try await cache.evict(EvictionRequest(source: "feeds.example.org", storedBefore: aMonthAgo))
/// ```
public struct EvictionRequest: Hashable, Sendable {
    /// How much of what may go is to go, in bytes of charged length.
    public enum Amount: Hashable, Sendable {
        case all
        /// Until this much is free.
        case atLeast(ByteCount)
        /// Until what is left is charged no more than this: of the source, or of the whole cache.
        case downTo(ByteCount)
    }

    /// Only items of this source; `nil` for all.
    public var source: String?
    /// Only items that were stored before this time, in milliseconds since 1970; `nil` for all. When an item was
    /// used last is known in its order only.
    public var storedBefore: Int64?
    public var amount: Amount

    public init(source: String? = nil, storedBefore: Int64? = nil, amount: Amount = .all) {
        self.source = source
        self.storedBefore = storedBefore
        self.amount = amount
    }

    /// Whether nothing distinguishes some items from the others: then the policy chooses, and what is kept of
    /// items and what was set aside goes as well.
    var isGeneral: Bool { source == nil && storedBefore == nil }
}

/// A file that was evicted, or that would be.
public struct EvictedFile: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case item
        /// What is kept of an item whose storing was broken off.
        case partial
        /// A damaged item that was set aside.
        case quarantined
    }

    public let kind: Kind
    /// `nil` for what was set aside, and for a partial that cannot be read.
    public let key: ItemKey?
    public let chargedLength: Int64
}

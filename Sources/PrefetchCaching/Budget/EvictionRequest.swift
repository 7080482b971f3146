public import Foundation
public import PrefetchItemFormat

/// Which items to evict, and how much of them.
///
/// ```swift
/// // Items older than a month, of a feed that is no longer followed.
/// try await cache.evict(EvictionRequest(source: "feeds.example.org", storedBefore: aMonthAgo))
/// ```
public struct EvictionRequest: Hashable, Sendable {
    /// How much to evict, in charged bytes.
    public enum Amount: Hashable, Sendable {
        /// Everything that the request selects.
        case all
        /// Until the call has freed at least this much.
        case atLeast(ByteCount)
        /// Until what remains of the source, or of the whole cache if none is given, is charged at most this
        /// much.
        case downTo(ByteCount)
    }

    /// Only items of this source; `nil` for all.
    public var source: String?
    /// In milliseconds since 1970.
    package var storedBeforeMilliseconds: Int64?
    /// How much of the selection to evict.
    public var amount: Amount

    /// Creates a request; by default, to evict everything.
    public init(source: String? = nil, storedBefore: Date? = nil, amount: Amount = .all) {
        self.init(source: source, storedBeforeMilliseconds: storedBefore?.milliseconds, amount: amount)
    }

    package init(source: String? = nil, storedBeforeMilliseconds: Int64?, amount: Amount = .all) {
        self.source = source
        self.storedBeforeMilliseconds = storedBeforeMilliseconds
        self.amount = amount
    }

    /// Only items stored before this time; `nil` for all. There is no filter by last use: only the order of use is
    /// recorded, not its time.
    public var storedBefore: Date? {
        get { storedBeforeMilliseconds.map(Date.init(milliseconds:)) }
        set { storedBeforeMilliseconds = newValue?.milliseconds }
    }

    /// Whether the request selects everything: then the policy chooses, and partials and quarantined files
    /// are evicted as well.
    var isGeneral: Bool { source == nil && storedBeforeMilliseconds == nil }
}

/// A file that was evicted, or would be.
public struct EvictedFile: Hashable, Sendable {
    /// What a file is to the cache. The raw values are stable names.
    public enum Kind: String, Hashable, Sendable {
        /// A cached item.
        case item
        /// The kept part of an item whose storing was interrupted.
        case partial
        /// A damaged item in the quarantine.
        case quarantined
    }

    /// What the file was to the cache.
    public let kind: Kind
    /// The key of the item; `nil` for a quarantined item and for an unreadable partial.
    public let key: ItemKey?
    /// The charged bytes that were freed, or would be.
    public let chargedBytes: Int64
}

/// Something that happened to the cache, in any process: to which item, and why.
public struct JournalEntry: Hashable, Sendable {
    /// What happened. The raw values are stable names.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// An item was stored in the cache.
        case stored
        /// The user opened a cached item, which made it the user's file.
        case opened
        /// A cached item was read ``JournalEntry/count`` times.
        case read
        /// An item was looked for ``JournalEntry/count`` times and not found. Source and length are known only if it had
        /// been in the cache, the source also if it had been declined.
        case missed
        /// An item left the cache for a ``JournalEntry/departure`` other than being opened.
        case left
        /// An item that the user had asked for went straight to its destination.
        case delivered
        /// A file that the user already had was opened or read ``JournalEntry/count`` times.
        case reopened
        /// An item was not stored; ``JournalEntry/reason`` is that of the ``Refusal``.
        case refused
        /// The level of pressure changed to ``JournalEntry/reason``.
        case pressure
        /// The budget changed to ``JournalEntry/chargedBytes``.
        case budget
        /// The catalog was rebuilt from ``JournalEntry/count`` items.
        case rebuilt
        /// ``JournalEntry/count`` items of a source vanished together with the catalog, so that their keys are unknown.
        case itemsLost
        /// ``JournalEntry/count`` entries that belong here, or earlier, were dropped.
        case entriesLost
    }

    /// The longest text that is kept, in bytes of UTF-8; longer ones are cut.
    static let longestText = 1024

    /// When it was noted, in milliseconds since 1970: up to about a second after it happened.
    public var time: Int64
    /// What happened.
    public var kind: Kind
    /// How often it happened, or how many items or entries are meant; at least 1.
    public var count: Int64 = 1
    /// The key, of at most 1,024 bytes of UTF-8; empty if it is unknown or none is concerned.
    public var key = ""
    /// The feed or server that the item came from, of at most 1,024 bytes of UTF-8; empty if unknown or none.
    public var source = ""
    /// A stable name: of the ``Departure`` of an item that was opened or left, of the ``Refusal/reason`` of one that was
    /// refused, of the level of pressure; otherwise empty.
    public var reason = ""
    /// Bytes of content; 0 if unknown.
    public var contentBytes: Int64 = 0
    /// Bytes of the budget: those that an item that was stored, opened or left is or was charged, or the new budget;
    /// otherwise 0.
    public var chargedBytes: Int64 = 0
    /// When the item was stored, in milliseconds since 1970, if known: it tells items of one key apart.
    public var storedAt: Int64?
    /// Whether an item that was opened or left had been read before.
    public var wasRead = false

    /// Why an item left the cache; `nil` for other kinds, and for a reason of a later version.
    public var departure: Departure? { [.opened, .left].contains(kind) ? Departure(rawValue: reason) : nil }

    /// A text as it is kept: one that is too long is cut.
    package static func kept(_ text: String) -> String { String(text.prefix(bytes: longestText)) }
}

/// A part of the journal: what happened to the cache, in all processes, and why.
public struct Journal: Hashable, Sendable {
    /// Oldest first. Those of one process are in the order in which they happened.
    public let entries: [JournalEntry]
    /// Where the next part begins.
    public let end: JournalPosition
    /// Whether nothing is missing before the first entry: since the position that was asked for, or since the cache was
    /// first used. Older entries are dropped when the journal becomes too long.
    public let isComplete: Bool
}

/// A position between two entries of the journal of a cache.
public struct JournalPosition: Hashable, Sendable {
    /// Of the journal since it was emptied last; `nil` before there is one.
    let epoch: Int64?
    let number: Int64
}

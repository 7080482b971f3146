public import PrefetchItemFormat
public import PrefetchStorageAreas

/// The kept part of an item whose storing was interrupted: its first whole chunks, of 1 MiB of content each,
/// and its metadata.
///
/// A partial is part of the cache, counts against the budget, is evicted first when space is needed, and
/// expires after ``lifetime``. It can be neither read nor opened.
public struct PartialItem: Sendable, Equatable {
    /// How long a partial waits to be resumed, in milliseconds: 7 days. Servers rarely keep a version longer
    /// under one validator, and an item that was not asked for in a week is a poor guess.
    public static let lifetime: Int64 = 7 * 24 * 60 * 60 * 1000

    /// The metadata of the item, with the validator that it was begun with.
    public let metadata: ItemMetadata
    /// Bytes of content that are kept, in whole chunks. Damage is found only when storing is resumed:
    /// ``CacheWriter/contentLength`` then is the length of the sound part.
    public let contentLength: Int64
    /// Bytes of the whole content, if that was known when the item was begun.
    public let expectedLength: Int64?
    /// Distinguishes this beginning of the item from every other.
    let generation: UInt64

    init(_ journal: PartialJournal) {
        metadata = journal.metadata
        contentLength = journal.contentLength
        expectedLength = journal.expectedLength
        generation = journal.generation
    }
}

/// The result of resuming the storing of an item.
public enum ResumedStoring: Sendable {
    /// Takes the rest of the content.
    case writer(CacheWriter)
    /// There is no room for the rest now; the partial is kept.
    case refused(Refusal)
    /// The partial no longer exists, is damaged from its first byte on, is in use by another writer, or was
    /// replaced by another beginning of the item.
    case gone
}

/// A kept partial, as the catalog lists it. ``PrefetchCache/partial(of:)`` returns whether it can be resumed.
public struct KeptPartial: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The feed or server that the item comes from; empty if none was given.
    public let source: String
    /// Where the item would go when opened.
    public let destination: Destination
    /// Bytes of content that are kept, in whole chunks.
    public let contentLength: Int64
    /// Stored bytes: the length of the file of the chunks.
    public let storedLength: Int64
    /// Charged bytes, those of the journal included.
    public let chargedLength: Int64
    /// When the partial was last begun, resumed or suspended, in milliseconds since 1970.
    public let keptAt: Int64
    /// When the partial expires, in milliseconds since 1970.
    public let expiresAt: Int64
}

public import ItemFormat

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

public import ItemFormat

/// What is kept of an item whose storing was broken off: its first whole chunks of 1 MiB of content, and
/// what it is.
///
/// It is part of the cache, counts against the budget, and is the first to go when space is needed; after
/// ``lifetime`` it goes in any case. It is nothing that can be read or opened.
public struct PartialItem: Sendable, Equatable {
    /// What the item is, with the validator that it was begun with.
    public let metadata: ItemMetadata
    /// Bytes of content that are kept, in whole chunks. What is damaged of them is found when storing goes
    /// on: ``CacheWriter/contentLength`` then says after which byte.
    public let contentLength: Int64
    /// Bytes of the whole content, if that was known when the item was begun.
    public let expectedLength: Int64?
    /// Tells this beginning of the item from every other.
    let generation: UInt64

    init(_ journal: PartialJournal) {
        metadata = journal.metadata
        contentLength = journal.contentLength
        expectedLength = journal.expectedLength
        generation = journal.generation
    }
}

/// What became of the wish to go on storing an item.
public enum ResumedStoring: Sendable {
    case writer(CacheWriter)
    /// There is no room for the rest now; the partial is kept.
    case refused(Refusal)
    /// The partial is not there any more, is damaged from its first byte on, is in use by another writer, or
    /// was replaced by another beginning of the item.
    case gone
}

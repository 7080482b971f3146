public import Foundation
public import PrefetchItemFormat
public import PrefetchStorageAreas

/// The kept part of an item whose storing was interrupted: its first whole chunks, of 1 MiB of content each, and its
/// metadata.
///
/// A partial expires after ``lifetime``. It can be neither read nor opened. That of an opportunistic item is part of the
/// cache, counts against the budget, and is evicted first when space is needed. What the user asked for is kept on the
/// volume of its destination instead, and is not evicted.
public struct PartialItem: Hashable, Sendable {
    /// How long a partial waits to be resumed: 7 days. Servers rarely keep a version longer under one validator, and an
    /// item that was not requested for a week was a poor guess.
    public static let lifetime = Duration.milliseconds(lifetimeMilliseconds)

    package static let lifetimeMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1000

    /// The key of the item.
    public let key: ItemKey
    /// The feed or server that the item comes from; empty if none was given.
    public let source: String
    /// Why the item was to be stored.
    public let intent: Intent
    /// Where the item would go when opened, if anywhere.
    public let destination: Destination?
    /// Bytes of content that are kept, in whole chunks.
    public let contentBytes: Int64
    /// Stored bytes: the length of the file of the chunks.
    public let storedBytes: Int64
    /// Charged bytes, those of the journal included; 0 for what the user asked for.
    public let chargedBytes: Int64
    package let keptAt: Int64
    package let expiresAt: Int64

    /// When the partial was last begun, resumed or suspended.
    public var keptDate: Date { Date(milliseconds: keptAt) }
    /// When the partial expires.
    public var expirationDate: Date { Date(milliseconds: expiresAt) }
}

/// A partial that can be resumed.
package struct ResumablePartial: Sendable, Equatable {
    /// The metadata of the item, with the validator that it was begun with.
    package let metadata: ItemMetadata
    /// Bytes of content that are kept, in whole chunks. Damage is found only when storing is resumed:
    /// ``CacheWriter/contentBytes`` then is the length of the sound part.
    package let contentBytes: Int64
    /// Bytes of the whole content, if that was known when the item was begun.
    package let expectedLength: Int64?
    /// Distinguishes this attempt to store the item from every other.
    let generation: UInt64

    init(_ journal: PartialJournal) {
        metadata = journal.metadata
        contentBytes = journal.contentBytes
        expectedLength = journal.expectedLength
        generation = journal.generation
    }
}

/// The result of resuming the storing of an item.
package enum ResumedStoring: Sendable {
    /// Takes the rest of the content.
    case writer(CacheWriter)
    /// There is no room for the rest now; the partial is kept.
    case refused(Refusal)
    /// The partial no longer exists, is damaged from its first byte on, is in use by another writer, or was replaced by
    /// another attempt to store the item.
    case gone
}

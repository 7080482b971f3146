internal import ItemFormat
internal import VolumeCapacity

extension PartialItem {
    /// How long what is kept of an item waits to be resumed, in milliseconds: 7 days. Servers rarely keep a
    /// version longer under one validator, and what nobody has asked for in a week is a poor guess.
    public static let lifetime: Int64 = 7 * 24 * 60 * 60 * 1000

    /// When a partial is no longer worth keeping, in milliseconds since 1970.
    ///
    /// - Parameter keptAt: When it was begun, resumed or suspended last. A clock that went back since does
    ///   not make it last longer.
    static func expiry(keptAt: Int64, now: Int64, of metadata: ItemMetadata) -> Int64 {
        min(min(keptAt, now) + lifetime, metadata.expiresAt ?? .max)
    }
}

extension CatalogRow {
    /// A partial that nobody writes.
    ///
    /// - Parameter storedLength: That of the file of its chunks; the journal is charged beside it.
    init(
        partial journal: PartialJournal, keptAt: Int64, now: Int64, storedLength: Int64, journalLength: Int64,
        charge: ChargedLength
    ) {
        var metadata = journal.metadata
        metadata.storedAt = keptAt
        metadata.expiresAt = PartialItem.expiry(keptAt: keptAt, now: now, of: journal.metadata)
        // They go in the order in which they were kept.
        metadata.priority = 0
        self.init(
            metadata, encoding: journal.encoding, contentLength: journal.contentLength,
            storedLength: storedLength,
            chargedLength: charge(storedLength: storedLength) + charge(storedLength: journalLength))
        kind = .partial
        hash = metadata.key.hash.ofPartial
    }
}

internal import ItemFormat
internal import VolumeCapacity

extension PartialItem {
    /// When a partial expires, in milliseconds since 1970.
    ///
    /// - Parameter keptAt: When it was last begun, resumed or suspended. A clock that was set back since does
    ///   not make it last longer.
    static func expiry(keptAt: Int64, now: Int64, of metadata: ItemMetadata) -> Int64 {
        min(min(keptAt, now) + lifetime, metadata.expiresAt ?? .max)
    }
}

extension CatalogRow {
    /// The row of a partial that is not being written.
    ///
    /// - Parameter storedLength: The length of the file of its chunks. The journal is charged separately.
    init(
        partial journal: PartialJournal, keptAt: Int64, now: Int64, storedLength: Int64, journalLength: Int64,
        charge: ChargedLength
    ) {
        var metadata = journal.metadata
        metadata.storedAt = keptAt
        metadata.expiresAt = PartialItem.expiry(keptAt: keptAt, now: now, of: journal.metadata)
        // Partials are evicted in the order in which they were kept.
        metadata.priority = 0
        self.init(
            metadata, encoding: journal.encoding, contentLength: journal.contentLength,
            storedLength: storedLength,
            chargedLength: charge(storedLength: storedLength) + charge(storedLength: journalLength))
        kind = .partial
        hash = metadata.key.hash.ofPartial
    }
}

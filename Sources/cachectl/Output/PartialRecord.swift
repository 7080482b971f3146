internal import PrefetchCache

/// The kept part of an interrupted item, as JSON.
struct PartialRecord: Encodable {
    let status = "partial"
    let key: String
    let source: String
    /// Bytes of content kept.
    let contentBytes: Int64
    let storedBytes: Int64
    let chargedBytes: Int64
    let destination: ItemRecord.DestinationRecord
    let keptAtMilliseconds: Int64
    let expiresAtMilliseconds: Int64

    init(_ partial: KeptPartial) {
        key = partial.key.string
        source = partial.source
        contentBytes = partial.contentLength
        storedBytes = partial.storedLength
        chargedBytes = partial.chargedLength
        destination = ItemRecord.DestinationRecord(partial.destination)
        keptAtMilliseconds = partial.keptAt
        expiresAtMilliseconds = partial.expiresAt
    }
}

/// An entry of 'list' as JSON: `status` distinguishes items and partials.
struct ListedRecord: Encodable {
    enum Subject {
        case item(CachedItem)
        case partial(KeptPartial)
    }

    private let record: any Encodable

    init(_ subject: Subject, in place: Place) {
        switch subject {
        case .item(let item): record = ItemRecord(item, in: place)
        case .partial(let partial): record = PartialRecord(partial)
        }
    }

    func encode(to encoder: any Encoder) throws {
        try record.encode(to: encoder)
    }
}

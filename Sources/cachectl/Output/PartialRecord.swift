internal import PrefetchCache

/// What is kept of an item that was broken off, as JSON.
struct PartialRecord: Encodable {
    let status = "partial"
    let key: String
    let source: String
    /// Bytes of content that are kept.
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

/// What 'list' prints as JSON: `status` tells which of the two it is.
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

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

/// The file of an opened item, as JSON.
struct PromotedRecord: Encodable {
    let status = "promoted"
    let key: String
    let area: String
    let path: String
    let backup: String
    /// Bytes of content when the item was handed over.
    let contentBytes: Int64
    /// Bytes of the file now; null when there is none, or it cannot be accessed.
    let presentBytes: Nullable<Int64>
    let openedAtMilliseconds: Int64

    init(_ file: PromotedFile, in place: Place) {
        key = file.key.string
        area = file.location.area.name
        path = place.relativePath(file.location)
        backup = file.backup.name
        contentBytes = file.contentLength
        presentBytes = Nullable(file.presentLength)
        openedAtMilliseconds = file.openedAt
    }
}

/// An entry of 'list' as JSON: `status` distinguishes items, partials and opened files.
struct ListedRecord: Encodable {
    enum Subject {
        case item(CachedItem)
        case partial(KeptPartial)
        case promoted(PromotedFile)
    }

    private let record: any Encodable

    init(_ subject: Subject, in place: Place) {
        switch subject {
        case .item(let item): record = ItemRecord(item, in: place)
        case .partial(let partial): record = PartialRecord(partial)
        case .promoted(let file): record = PromotedRecord(file, in: place)
        }
    }

    func encode(to encoder: any Encoder) throws {
        try record.encode(to: encoder)
    }
}

internal import PrefetchCache
internal import SystemPackage

/// A cached item as JSON.
struct ItemRecord: Encodable {
    struct DestinationRecord: Encodable {
        let area: String
        /// Left out for the area's own folder.
        let folder: String?
        let name: String
        let backup: String

        init(_ destination: Destination) {
            area = destination.area.name
            folder = destination.folder?.string
            name = destination.name.string
            backup = destination.backup.name
        }
    }

    let status = "cached"
    let key: String
    let source: String
    let intent: String
    let contentBytes: Int64
    let storedBytes: Int64
    let chargedBytes: Int64
    let encoding: String
    let destination: DestinationRecord
    let path: String
    let priority: Float
    let storedAtMilliseconds: Int64
    let expiresAtMilliseconds: Nullable<Int64>
    let lastUse: Int64

    init(_ item: CachedItem, in place: Place) {
        key = item.key.string
        source = item.source
        intent = item.intent.name
        contentBytes = item.contentLength
        storedBytes = item.storedLength
        chargedBytes = item.chargedLength
        encoding = item.encoding.name
        destination = DestinationRecord(item.destination)
        path = place.relativePath(item.location)
        priority = item.priority
        storedAtMilliseconds = item.storedAt
        expiresAtMilliseconds = Nullable(item.expiresAt)
        lastUse = item.lastUse
    }
}

extension Destination {
    /// The area, the folder and the name as one text.
    var text: String { [area.name, folder?.string, name.string].compactMap(\.self).joined(separator: "/") }
}

extension Intent {
    var name: String {
        switch self {
        case .opportunistic: "opportunistic"
        case .userRequested: "userRequested"
        }
    }
}

extension BackupPolicy {
    var name: String {
        switch self {
        case .include: "include"
        case .exclude: "exclude"
        }
    }
}

internal import PrefetchCache
internal import SystemPackage

/// The file of an opened item as JSON.
struct OpenedRecord: Encodable {
    let key: String
    let path: PathRecord
    let area: String
    /// Left out for the area's own folder.
    let folder: String?
    let name: String
    let contentBytes: Int64
    /// Left out when nothing was opened.
    var firstOpen: Bool?
    /// Left out when the item was cached before.
    var delivered: Bool?
    /// Left out when it is obvious.
    var status: String?

    init(_ item: OpenedItem) {
        key = item.key.string
        path = PathRecord(item.path)
        area = item.location.area.name
        folder = item.folder?.string
        name = item.location.relative.lastComponent?.string ?? ""
        contentBytes = item.contentLength
    }
}

extension OpenedRecord {
    /// One of several opened items, or why it could not be opened.
    enum OrFailure: Encodable {
        case opened(OpenedRecord)
        case failed(key: String, error: String)

        private enum CodingKeys: CodingKey {
            case key, error
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .opened(let record): try record.encode(to: encoder)
            case .failed(let key, let error):
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(key, forKey: .key)
                try container.encode(error, forKey: .error)
            }
        }
    }
}

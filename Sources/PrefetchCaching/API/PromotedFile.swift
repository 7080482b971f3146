public import Foundation
public import PrefetchItemFormat
public import PrefetchStorageAreas
package import SystemPackage

/// The file that an item was promoted to when it was first opened; of a bundle, the folder with its files. It is the
/// user's, and may have changed since.
public struct PromotedFile: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The current path of the file. Absolute paths change when an app is updated: keep the key, and open it again.
    package let path: FilePath
    /// The location of the file, in a form that can be stored.
    public let location: AreaPath
    /// The folder of the destination below its area; `nil` for the area itself.
    public let folder: FolderPath?
    /// The name of the file.
    public let name: FileName
    /// Whether the file is to be part of backups.
    public let backup: BackupPolicy
    /// Bytes of content when the item was promoted.
    public let contentBytes: Int64
    /// The checksum of the content when the item was promoted.
    package let contentChecksum: UInt64
    package let openedAt: Int64
    /// Where the content came from; `nil` if the file was migrated.
    public let provenance: Provenance?
    /// Whether a file with the same content was there already and serves as the promoted one: it is the user's.
    public let isAdopted: Bool
    /// The length of the file in bytes when this was returned, or that of all files of a bundle when it was promoted; `nil`
    /// when there was no regular file, or no folder, or it could not be accessed.
    public let presentBytes: Int64?
    /// Whether this call promoted the item, rather than an earlier one.
    public let isFirstOpen: Bool
    /// The files of a bundle; empty for a single file.
    public let parts: [BundlePart]
}

/// Where the content of a promoted file came from. It is kept as long as the key is not forgotten, and restored with
/// backups.
public struct Provenance: Hashable, Sendable {
    /// The feed or server; empty if none was given.
    public let source: String
    /// Why the item was stored.
    public let intent: Intent
    /// The version of the resource, as reported by its server.
    public let validator: Validator
    /// The URL from which the content can be downloaded again, if one was given.
    public let url: URL?
    /// The application-defined bytes of the item.
    public let attributes: [UInt8]
    package let storedAt: Int64

    /// When the item was stored.
    public var storedDate: Date { Date(milliseconds: storedAt) }

    init(
        source: String, intent: Intent, validator: Validator, url: URL?, attributes: [UInt8], storedAt: Int64
    ) {
        self.source = source
        self.intent = intent
        self.validator = validator
        self.url = url
        self.attributes = attributes
        self.storedAt = storedAt
    }

    /// - Parameter time: When the item was stored, in milliseconds since 1970; `nil` for the time in the metadata.
    init(_ metadata: ItemMetadata, storedAt time: Int64? = nil) {
        source = metadata.source
        intent = metadata.intent
        validator = metadata.validator
        url = metadata.url
        attributes = metadata.attributes
        storedAt = time ?? metadata.storedAt
    }
}

/// The progress of opening an item.
public struct OpenProgress: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// Bytes of content that were decoded, copied or verified.
    public let completedBytes: Int64
    /// Bytes of content in total.
    public let totalBytes: Int64

    /// Creates a progress value.
    public init(key: ItemKey, completedBytes: Int64, totalBytes: Int64) {
        self.key = key
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }
}

extension PromotedFile {
    /// The current location of the file. It changes when an app is updated: keep the key, and open it again.
    public var url: URL { URL(filePath: path.string) }

    /// The current location of one file of a bundle.
    public func url(of part: BundlePart) -> URL { URL(filePath: path.pushing(part.path.path).string) }

    /// Whether the file is missing, no backup was to contain it, and it was not the user's: it can only be downloaded
    /// again, unless the user has moved or deleted it.
    public var isLost: Bool { presentBytes == nil && backup == .exclude && !isAdopted }

    /// When the item was first opened.
    public var openedDate: Date { Date(milliseconds: openedAt) }
}

public import PrefetchItemFormat
public import PrefetchStorageAreas
public import SystemPackage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The file of an item that was opened.
public struct OpenedItem: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The present path of the file. Absolute paths change when an app is updated: keep the key, and open it
    /// again.
    public let path: FilePath
    /// The location of the file, in a form that can be stored.
    public let location: AreaPath
    /// The folder of the destination below its area; `nil` for the area itself.
    public let folder: FolderPath?
    /// Bytes of content when the item was promoted.
    public let contentLength: Int64
    /// Whether this call promoted the item, rather than an earlier one.
    public let isFirstOpen: Bool
}

/// A file that an item was promoted to when it was opened. It is the user's, and may have changed since.
public struct PromotedFile: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The path of the file. Absolute paths change when an app is updated.
    public let path: FilePath
    /// The location of the file, in a form that can be stored.
    public let location: AreaPath
    /// Whether the file is to be part of backups.
    public let backup: BackupPolicy
    /// Bytes of content when the item was promoted.
    public let contentLength: Int64
    /// When the item was first opened, in milliseconds since 1970.
    public let openedAt: Int64
    /// The present length of the file in bytes; `nil` when there is no regular file, or it cannot be
    /// accessed.
    public let presentLength: Int64?
}

/// How far the opening of an item has come.
public struct OpenProgress: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// Bytes of content that were decoded, copied or verified.
    public let completedBytes: Int64
    /// Bytes of content in all.
    public let totalBytes: Int64

    /// Creates a progress from its parts.
    public init(key: ItemKey, completedBytes: Int64, totalBytes: Int64) {
        self.key = key
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }
}

extension OpenedItem {
    /// The file as a URL, for APIs of Foundation.
    public var url: URL { URL(filePath: path.string) }
}

extension StorageAreas {
    /// The areas inside an app's container, see `container(at:)`.
    ///
    /// - Parameter url: A local folder.
    public static func container(at url: URL) throws(StorageAreasError) -> StorageAreas {
        try container(at: FilePath(url.path))
    }

    /// The folder of Documents.
    public var documentsURL: URL { URL(filePath: documents.string) }
    /// The folder of Application Support.
    public var applicationSupportURL: URL { URL(filePath: applicationSupport.string) }
    /// The folder of Caches.
    public var cachesURL: URL { URL(filePath: caches.string) }
    /// The folder for temporary files.
    public var temporaryURL: URL { URL(filePath: temporary.string) }

    /// The folder of iCloud Drive; `nil` where the user has no account.
    public var iCloudDriveURL: URL? { iCloudDrive.map { URL(filePath: $0.string) } }

    /// The present URL of a location; `nil` in an area that is unavailable.
    public func url(of location: AreaPath) -> URL? {
        path(of: location.area).map { URL(filePath: $0.pushing(location.relative).string) }
    }
}

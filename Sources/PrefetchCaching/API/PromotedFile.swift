public import Foundation
public import PrefetchItemFormat
public import PrefetchStorageAreas
package import SystemPackage

/// The file that an item was promoted to when it was first opened. It is the user's, and may have changed since.
public struct PromotedFile: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The current path of the file. Absolute paths change when an app is updated: keep the key, and open it again.
    package let path: FilePath
    /// The location of the file, in a form that can be stored.
    public let location: AreaPath
    /// The folder of the destination below its area; `nil` for the area itself.
    public let folder: FolderPath?
    /// Whether the file is to be part of backups.
    public let backup: BackupPolicy
    /// Bytes of content when the item was promoted.
    public let contentBytes: Int64
    package let openedAt: Int64
    /// The length of the file in bytes when this was returned; `nil` when there was no regular file, or it could not be
    /// accessed.
    public let presentBytes: Int64?
    /// Whether this call promoted the item, rather than an earlier one.
    public let isFirstOpen: Bool
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

    /// When the item was first opened.
    public var openedDate: Date { Date(milliseconds: openedAt) }
}

extension StorageAreas {
    /// The areas inside an app's container, such as the `AppData` folder of an `.xcappdata` bundle. iCloud Drive is not
    /// in a container: the folder `Library/Mobile Documents` stands in for it, and its content is not uploaded.
    ///
    /// - Parameter url: A local folder, which need not exist yet.
    /// - Throws: ``StorageAreasError/notADirectory(_:)`` when something other than a folder is there, and
    ///   ``StorageAreasError/containerUnreadable(_:)`` when it cannot be opened.
    public static func container(at url: URL) throws(StorageAreasError) -> StorageAreas {
        try container(at: FilePath(url.path))
    }

    /// The folder of Documents. Like those of the other areas, it need not exist yet.
    public var documentsURL: URL { URL(filePath: documents.string) }
    /// The folder of Application Support.
    public var applicationSupportURL: URL { URL(filePath: applicationSupport.string) }
    /// The folder of Caches.
    public var cachesURL: URL { URL(filePath: caches.string) }
    /// The folder for temporary files.
    public var temporaryURL: URL { URL(filePath: temporary.string) }
    /// The folder of iCloud Drive; `nil` where the user has no account.
    public var iCloudDriveURL: URL? { iCloudDrive.map { URL(filePath: $0.string) } }

    /// The current URL of a location; `nil` in an area that is unavailable.
    public func url(of location: AreaPath) -> URL? {
        path(of: location.area).map { URL(filePath: $0.pushing(location.relative).string) }
    }
}

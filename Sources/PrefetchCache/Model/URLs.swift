public import StorageAreas
internal import SystemPackage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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

public import StorageAreas
internal import SystemPackage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension OpenedItem {
    /// The file, for APIs of Foundation.
    public var url: URL { URL(filePath: path.string) }
}

extension StorageAreas {
    /// The areas inside an app's container, see `container(at:)`. Takes the URL of a local folder.
    public static func container(at url: URL) throws(StorageAreasError) -> StorageAreas {
        try container(at: FilePath(url.path))
    }

    public var documentsURL: URL { URL(filePath: documents.string) }
    public var applicationSupportURL: URL { URL(filePath: applicationSupport.string) }
    public var cachesURL: URL { URL(filePath: caches.string) }
    public var temporaryURL: URL { URL(filePath: temporary.string) }

    /// `nil` where the user has no account.
    public var iCloudDriveURL: URL? { iCloudDrive.map { URL(filePath: $0.string) } }

    /// Where a file is now; `nil` in an area without a path.
    public func url(of location: AreaPath) -> URL? {
        path(of: location.area).map { URL(filePath: $0.pushing(location.relative).string) }
    }
}

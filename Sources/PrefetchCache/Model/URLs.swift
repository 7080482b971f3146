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
    /// The areas inside an app's container, see `container(at:)`.
    public static func container(at url: URL) throws(StorageAreasError) -> StorageAreas {
        try container(at: FilePath(url.path))
    }
}

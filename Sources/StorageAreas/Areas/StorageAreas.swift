public import SystemPackage

/// Where the areas of one app are. The folders need not exist yet.
///
/// ```swift
/// let areas = try StorageAreas.application(id: "org.example.podcasts")
/// print(areas.caches)
/// ```
public struct StorageAreas: Sendable, Hashable {
    public let documents: FilePath
    public let applicationSupport: FilePath
    public let caches: FilePath
    public let temporary: FilePath
    /// The app's folder in iCloud Drive, as the user sees it; `nil` where the user has no account.
    public let iCloudDrive: FilePath?

    /// The same areas, two of them elsewhere.
    package func replacing(caches: FilePath, applicationSupport: FilePath) -> StorageAreas {
        StorageAreas(
            documents: documents, applicationSupport: applicationSupport, caches: caches,
            temporary: temporary, iCloudDrive: iCloudDrive)
    }

    /// The root of an area, or `nil` for ``Area/iCloudDrive`` where the user has no account.
    public func path(of area: Area) -> FilePath? {
        switch area {
        case .documents: documents
        case .applicationSupport: applicationSupport
        case .caches: caches
        case .temporary: temporary
        case .iCloudDrive: iCloudDrive
        }
    }
}

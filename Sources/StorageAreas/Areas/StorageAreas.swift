public import SystemPackage

/// Where the areas of one app are. The folders need not exist yet.
///
/// ```swift
/// let areas = try StorageAreas.application(id: "org.example.podcasts")
/// print(areas.caches)
/// ```
public struct StorageAreas: Sendable, Hashable {
    /// The folder of ``Area/documents``.
    public let documents: FilePath
    /// The folder of ``Area/applicationSupport``.
    public let applicationSupport: FilePath
    /// The folder of ``Area/caches``.
    public let caches: FilePath
    /// The folder of ``Area/temporary``.
    public let temporary: FilePath
    /// The app's folder in iCloud Drive, as the user sees it. `nil` on Linux, except in a container, and
    /// where the app has no iCloud container or the user no account.
    public let iCloudDrive: FilePath?

    /// The same areas with two of them replaced.
    package func replacing(caches: FilePath, applicationSupport: FilePath) -> StorageAreas {
        StorageAreas(
            documents: documents, applicationSupport: applicationSupport, caches: caches,
            temporary: temporary, iCloudDrive: iCloudDrive)
    }

    /// The root of an area; `nil` for ``Area/iCloudDrive`` where ``iCloudDrive`` is `nil`.
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

internal import FileSystem
// FoundationEssentials has no `temporaryDirectory` on all platforms.
internal import Foundation
internal import PrefetchCache
internal import SystemPackage

/// An empty cache in the temporary folder, in the place of one that is not there: a command that only looks opens
/// it, and makes nothing in the container. Of the two folders of a cache it stands in for those that are missing.
struct StandIn {
    let areas: StorageAreas
    private let folder: FilePath
    /// The nearest folder to the cache that is not there.
    private let place: Descriptor

    /// - Returns: `nil` where there is a cache.
    init?(for areas: StorageAreas) throws(FileSystemError) {
        let fileSystem = LiveFileSystem()
        let hasCache = try PrefetchCache.hasRoot(in: areas.caches, fileSystem)
        let hasSupport = try PrefetchCache.hasRoot(in: areas.applicationSupport, fileSystem)
        if hasCache, hasSupport { return nil }
        folder = FilePath(FileManager.default.temporaryDirectory.path)
            .appending("cachectl-\(UUID().uuidString)")
        self.areas = areas.replacing(
            caches: hasCache ? areas.caches : folder.appending("Caches"),
            applicationSupport: hasSupport
                ? areas.applicationSupport : folder.appending("Application Support"))
        place = try Self.nearest(areas.caches, fileSystem)
    }

    /// Tells of the volume of the cache that is not there, until the stand-in is removed.
    var probe: any VolumeProbing {
        PlaceProbe(folder: place, probe: VolumeProbe(fileSystem: LiveFileSystem()))
    }

    /// The folder, or the nearest one above it that is there.
    private static func nearest(_ path: FilePath, _ fileSystem: LiveFileSystem) throws(FileSystemError)
        -> Descriptor
    {
        var path = path
        while true {
            do throws(FileSystemError) {
                return try fileSystem.open(path, in: .workingDirectory, .directoryFollowingLinks)
            } catch {
                guard error.isNotFound, path.removeLastComponent() else { throw error }
                if path.isEmpty { path = "." }
            }
        }
    }

    /// After the cache that was opened in its place is closed.
    func remove() {
        LiveFileSystem().close(place)
        do {
            try FileManager.default.removeItem(atPath: folder.string)
        } catch {
            // The system clears its temporary folder.
        }
    }
}

/// Asks about one folder, whatever it is asked about.
private struct PlaceProbe: VolumeProbing {
    let folder: Descriptor
    let probe: VolumeProbe

    func state(of _: Descriptor) throws(FileSystemError) -> VolumeState { try probe.state(of: folder) }
    func available(of _: Descriptor) throws(FileSystemError) -> Int64 { try probe.available(of: folder) }
}

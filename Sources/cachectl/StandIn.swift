internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

/// Which of a cache's two folders exist.
struct CacheRoots {
    let inCaches: Bool
    let inApplicationSupport: Bool

    init(in areas: StorageAreas) throws(FileSystemError) {
        inCaches = try PrefetchCache.hasRoot(in: areas.caches, LiveFileSystem())
        inApplicationSupport = try PrefetchCache.hasRoot(in: areas.applicationSupport, LiveFileSystem())
    }

    var isEmpty: Bool { !inCaches && !inApplicationSupport }
    var isComplete: Bool { inCaches && inApplicationSupport }
}

/// Replaces each missing folder of a cache with an empty temporary one, so that a read-only command creates nothing in
/// the container.
struct StandIn {
    let areas: StorageAreas
    private let folder: FilePath
    /// The nearest existing ancestor of the missing cache.
    private let place: Descriptor

    init(for areas: StorageAreas, having roots: CacheRoots) throws(FileSystemError) {
        folder = FilePath(FileManager.default.temporaryDirectory.path)
            .appending("cachectl-\(UUID().uuidString)")
        self.areas = areas.replacing(
            caches: roots.inCaches ? areas.caches : folder.appending("Caches"),
            applicationSupport: roots.inApplicationSupport
                ? areas.applicationSupport : folder.appending("Application Support"))
        place = try Self.nearest(areas.caches, LiveFileSystem())
    }

    /// Reports on the volume of the missing cache. Valid until ``remove()``.
    var probe: any VolumeProbing {
        PlaceProbe(folder: place, probe: VolumeProbe(fileSystem: LiveFileSystem()))
    }

    /// The folder, or its nearest existing ancestor.
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

    /// Removes the temporary folder. Call after closing the cache.
    func remove() {
        LiveFileSystem().close(place)
        do {
            try FileManager.default.removeItem(atPath: folder.string)
        } catch {
            // The system clears its temporary folder eventually.
        }
    }
}

/// Always reports on the same folder, whichever one is passed.
private struct PlaceProbe: VolumeProbing {
    let folder: Descriptor
    let probe: VolumeProbe

    func state(of _: Descriptor) throws(FileSystemError) -> VolumeState { try probe.state(of: folder) }
    func available(of _: Descriptor) throws(FileSystemError) -> Int64 { try probe.available(of: folder) }
}

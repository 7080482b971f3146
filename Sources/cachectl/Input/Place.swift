internal import PrefetchCache
internal import SystemPackage

/// Where the cache is that a command works on.
struct Place {
    let areas: StorageAreas
    /// The container, when the user named one.
    private let container: FilePath?

    /// The areas in a container.
    init(container path: String) throws(StorageAreasError) {
        areas = try .container(at: FilePath(path))
        container = areas.documents.removingLastComponent()
    }

    /// The areas of an app on this machine.
    init(application id: String) throws(StorageAreasError) {
        areas = try .application(id: id)
        container = nil
    }

    /// A path as it is printed: relative to the container, or to its area when there is none.
    func relativePath(_ path: AreaPath) -> String {
        guard let container, var full = areas.path(of: path.area)?.pushing(path.relative),
            full.removePrefix(container)
        else { return path.relative.string }
        return full.string
    }
}

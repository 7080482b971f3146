internal import FileSystem
internal import PrefetchCache
internal import SystemPackage

/// The location of the cache that a command works on.
struct Place {
    let areas: StorageAreas
    /// The container, when the user named one.
    let container: FilePath?

    /// The areas in a container, or in a bundle `….xcappdata` that holds one.
    init(container path: FilePath) throws(StorageAreasError) {
        areas = try .container(at: Self.container(in: path))
        container = areas.documents.removingLastComponent()
    }

    /// Xcode saves the container of a device inside a bundle, which a link or `.` may lead to.
    private static func container(in path: FilePath) -> FilePath {
        let name: FilePath
        do throws(FileSystemError) {
            name = try LiveFileSystem().resolved(path)
        } catch {
            // One that does not exist yet has only the name it is given.
            name = path
        }
        guard name.lastComponent?.extension?.lowercased() == "xcappdata" else { return path }
        return path.appending("AppData")
    }

    /// The areas of an app on this machine.
    init(application id: String) throws(StorageAreasError) {
        areas = try .application(id: id)
        container = nil
    }

    /// A path as printed: relative to the container, or to its area when there is no container.
    func relativePath(_ path: AreaPath) -> String {
        guard let container, var full = areas.path(of: path.area)?.pushing(path.relative),
            full.removePrefix(container)
        else { return path.relative.string }
        return full.string
    }
}

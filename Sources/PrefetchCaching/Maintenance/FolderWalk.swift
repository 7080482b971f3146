internal import PrefetchFileSystem
internal import SystemPackage

/// Visits a folder and all folders below it, however deep, with two of them open at a time. Symbolic links are not
/// followed.
struct FolderWalk {
    /// Something found on the way.
    struct Entry {
        let name: FilePath.Component
        /// The open folder that contains it.
        let folder: Directory
        /// The path from the top.
        let path: FilePath
        let attributes: FileAttributes

        /// The entry after it was renamed.
        func named(_ name: FilePath.Component) -> Entry {
            Entry(
                name: name, folder: folder, path: path.removingLastComponent().appending(name),
                attributes: attributes)
        }
    }

    let top: Directory
    /// Whether to skip a folder.
    let isSkipped: (FileAttributes.Identity) -> Bool

    /// - Parameters:
    ///   - body: Receives everything except the folders that are visited, in the order of the names within each
    ///     folder.
    ///   - unreadable: Receives entries below the top that cannot be listed or inspected.
    /// - Throws: ``CacheError/fileSystem(_:)`` when the top cannot be listed.
    func run(
        _ body: (Entry) throws(CacheError) -> Void, unreadable: (FilePath, CacheError) -> Void
    ) throws(CacheError) {
        // Paths rather than open folders, which could exhaust the descriptors.
        var waiting: [FilePath] = [""]
        var last = (path: FilePath(""), folder: top)
        while let path = waiting.popLast() {
            let folder: Directory
            let entries: [DirectoryEntry]
            do {
                guard let opened = try open(path, after: last) else { continue }
                folder = opened
                entries = try onFiles(top.fileSystem.entries(of: folder.descriptor))
            } catch {
                guard !path.isEmpty else { throw error }
                unreadable(path, error)
                continue
            }
            last = (path, folder)
            var folders: [FilePath] = []
            for entry in entries.sorted(by: { $0.name.string < $1.name.string }) {
                let inside = path.appending(entry.name)
                let attributes: FileAttributes?
                do {
                    attributes = try top.fileSystem.attributes(
                        of: FilePath(root: nil, [entry.name]), in: folder.descriptor)
                } catch {
                    unreadable(inside, .fileSystem(error))
                    continue
                }
                guard let attributes else { continue }
                if attributes.kind == .directory, !isSkipped(attributes.identity) {
                    folders.append(inside)
                } else {
                    try body(
                        Entry(name: entry.name, folder: folder, path: inside, attributes: attributes))
                }
            }
            waiting += folders.reversed()
        }
    }

    /// - Parameter last: The folder that was listed last, which is usually the parent.
    /// - Returns: `nil` for a folder that was removed or replaced since it was seen.
    private func open(_ path: FilePath, after last: (path: FilePath, folder: Directory)) throws(CacheError)
        -> Directory?
    {
        guard let name = path.lastComponent else { return top }
        do {
            guard path.removingLastComponent() == last.path else { return try top.open(path) }
            return try last.folder.open(FilePath(root: nil, [name]))
        } catch {
            guard error.isNotRegularFile else { throw .fileSystem(error) }
            return nil
        }
    }
}

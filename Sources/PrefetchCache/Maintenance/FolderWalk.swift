internal import FileSystem
internal import SystemPackage

/// Goes through a folder and all folders below it, however deep, with two of them open at a time. Links are not
/// followed.
struct FolderWalk {
    /// What is found on the way.
    struct Entry {
        let name: FilePath.Component
        /// The open folder that it is in.
        let folder: Directory
        /// From the top.
        let path: FilePath
        let attributes: FileAttributes
    }

    let top: Directory
    /// Folders that are not gone into.
    let isSkipped: (FileAttributes.Identity) -> Bool

    /// - Parameter body: Gets everything but the folders that are gone into, those of one folder in the order of
    ///   their names.
    /// - Throws: When a folder cannot be listed that has not just vanished.
    func run(_ body: (Entry) throws(CacheError) -> Void) throws(CacheError) {
        // Paths, not open folders: there may be more of them than descriptors.
        var waiting: [FilePath] = [""]
        var last = (path: FilePath(""), folder: top)
        while let path = waiting.popLast() {
            guard let folder = try open(path, after: last) else { continue }
            last = (path, folder)
            let entries = try onFiles { () throws(FileSystemError) in
                try top.fileSystem.entries(of: folder.descriptor)
            }
            var folders: [FilePath] = []
            for entry in entries.sorted(by: { $0.name.string < $1.name.string }) {
                let attributes = try onFiles { () throws(FileSystemError) in
                    try top.fileSystem.attributes(
                        of: FilePath(root: nil, [entry.name]), in: folder.descriptor)
                }
                guard let attributes else { continue }
                let inside = path.appending(entry.name)
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

    /// - Returns: `nil` for a folder that was removed, or replaced by something else, since it was seen.
    ///
    /// - Parameter last: The folder that was listed last, which most often is the one above.
    private func open(_ path: FilePath, after last: (path: FilePath, folder: Directory)) throws(CacheError)
        -> Directory?
    {
        guard let name = path.lastComponent else { return top }
        do {
            guard path.removingLastComponent() == last.path else { return try top.open(path) }
            return try last.folder.open(FilePath(root: nil, [name]))
        } catch {
            guard error.isNoRegularFile else { throw .fileSystem(error) }
            return nil
        }
    }
}

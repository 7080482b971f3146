internal import FileSystem
public import SystemPackage

extension StorageAreas {
    /// The areas inside an app's container, such as the `AppData` folder of an `.xcappdata` bundle.
    ///
    /// iCloud Drive is not in a container: the folder `Library/Mobile Documents` stands in for it, and
    /// its content is not uploaded.
    ///
    /// - Parameter root: The container. It need not exist yet. A relative path is resolved against the
    ///   working directory; `.` and `..` are folded without regard to symbolic links.
    /// - Throws: ``StorageAreasError/notADirectory(_:)`` when something other than a folder is at
    ///   `root`, ``StorageAreasError/containerUnreadable(_:_:)`` when it cannot be opened,
    ///   ``StorageAreasError/emptyContainerPath`` and ``StorageAreasError/workingDirectoryMissing``.
    public static func container(at root: FilePath) throws(StorageAreasError) -> StorageAreas {
        let root = try absolute(root)
        try requireFolderOrNothing(at: root)
        let library = root.appending("Library")
        return StorageAreas(
            documents: root.appending("Documents"),
            applicationSupport: library.appending("Application Support"),
            caches: library.appending("Caches"),
            temporary: root.appending("tmp"),
            iCloudDrive: library.appending("Mobile Documents"))
    }

    private static func absolute(_ path: FilePath) throws(StorageAreasError) -> FilePath {
        // An empty path is more often an unset variable in a script than the working directory.
        guard !path.isEmpty else { throw .emptyContainerPath }
        guard path.isRelative else { return path.lexicallyNormalized() }
        do {
            return try LiveFileSystem().resolved(".").pushing(path).lexicallyNormalized()
        } catch {
            throw .workingDirectoryMissing
        }
    }

    private static func requireFolderOrNothing(at root: FilePath) throws(StorageAreasError) {
        do {
            try LiveFileSystem().withFile(root, in: .workingDirectory, .directoryFollowingLinks) { _ in }
        } catch {
            if error.isNotFound { return }
            throw error.errno == .notDirectory
                ? .notADirectory(root) : .containerUnreadable(root, error.errno)
        }
    }
}

internal import FileSystem
internal import SystemPackage

extension Directory {
    /// Checks that SQLite, which opens by path and follows links, opens the file `name` of this very folder or
    /// makes it there, and so its side files. Nothing else may come between this and the opening.
    ///
    /// - Parameter path: That of this folder.
    /// - Returns: The identity of the file, if it is there.
    /// - Throws: `ELOOP` for a link or anything else that is no file, `EMLINK` for a file with several names, each of
    ///   which would have a journal of its own, and `ESTALE` where the path leads to another folder by now.
    @discardableResult
    func requireDatabasePlace(_ name: String, at path: FilePath) throws(FileSystemError)
        -> FileAttributes.Identity?
    {
        for side in CacheLayout.databaseSides { _ = try onlyFile(name + side, at: path) }
        let own = try fileSystem.attributes(of: descriptor).identity
        guard try fileSystem.attributes(of: path, in: .workingDirectory)?.identity == own else {
            throw FileSystemError("open", path: path, errno: .staleNFSFileHandle)
        }
        return try onlyFile(name, at: path)
    }

    private func onlyFile(_ name: String, at path: FilePath) throws(FileSystemError)
        -> FileAttributes.Identity?
    {
        guard let file = try fileSystem.attributes(of: FilePath(name), in: descriptor) else { return nil }
        guard file.kind == .regular else {
            throw FileSystemError("open", path: path.appending(name), errno: .tooManySymbolicLinkLevels)
        }
        guard file.linkCount <= 1 else {
            throw FileSystemError("open", path: path.appending(name), errno: .tooManyLinks)
        }
        return file.identity
    }
}

internal import FileSystem
internal import GRDBSQLite
internal import SystemPackage

extension Directory {
    /// Checks that SQLite, which opens by path and follows links, will open or create the file `name` and its
    /// side files in this very folder. Nothing may happen between this check and the opening.
    ///
    /// - Parameter path: The path of this folder.
    /// - Returns: The identity of the file, if it exists.
    /// - Throws: `ELOOP` for a link or anything else that is not a file, `EMLINK` for a file with several
    ///   names, each of which would have its own journal, and `ESTALE` when the path now leads to another
    ///   folder.
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

extension FilePath {
    /// Checks that SQLite can open a database with its journal in this folder. It counts the bytes of the path after it has followed all
    /// links.
    ///
    /// - Throws: ``CacheError/pathTooLong(_:limit:)``.
    func requireRoom(forDatabase name: String) throws(CacheError) {
        guard let system = sqlite3_vfs_find(nil), let resolve = system.pointee.xFullPathname else { return }
        let limit = Int(system.pointee.mxPathname)
        var resolved = [CChar](repeating: 0, count: 1 << 14)
        let path = appending(name).string
        // The primary code, since links are reported as well. Anything else that is wrong with the path is found when a
        // database is opened.
        guard resolve(system, path, CInt(resolved.count), &resolved) & 0xFF == SQLITE_OK,
            let length = resolved.firstIndex(of: 0), length + "-journal".utf8.count > limit
        else { return }
        throw .pathTooLong(self, limit: limit)
    }
}

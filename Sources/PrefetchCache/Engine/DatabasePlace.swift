internal import FileSystem
internal import SystemPackage

extension Directory {
    /// Checks that SQLite, which opens by path and follows links, opens the file `name` of this very folder or
    /// makes it there.
    ///
    /// - Parameter path: That of this folder.
    /// - Throws: `ELOOP` for a link or anything else that is no file, `ESTALE` where the path leads to another
    ///   folder by now.
    func requireDatabasePlace(_ name: FilePath, at path: FilePath) throws(FileSystemError) {
        let own = try fileSystem.attributes(of: descriptor).identity
        guard try fileSystem.attributes(of: path, in: .workingDirectory)?.identity == own else {
            throw FileSystemError("open", path: path, errno: .staleNFSFileHandle)
        }
        guard let file = try fileSystem.attributes(of: name, in: descriptor) else { return }
        guard file.kind == .regular else {
            throw FileSystemError("open", path: path.pushing(name), errno: .tooManySymbolicLinkLevels)
        }
    }
}

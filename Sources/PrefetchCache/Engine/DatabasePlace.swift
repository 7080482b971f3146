internal import FileSystem
internal import GRDBSQLite
internal import SystemPackage

extension Directory {
    /// The path of a database in this folder as text, which is all that GRDB takes.
    ///
    /// - Parameter path: The path of this folder. For one that is not UTF-8 the kernel's name for the open folder
    ///   stands in, as long as this object lives. Only file systems of Linux have such names.
    func databasePath(_ name: String, at path: FilePath) -> String {
        #if os(Linux)
            if !path.isText { return "/proc/self/fd/\(descriptor.rawValue)/\(name)" }
        #endif
        return path.appending(name).string
    }

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
    /// Checks that SQLite can open a database with its journal in this folder. It follows all links first, so a short
    /// link does not help.
    ///
    /// - Throws: ``CacheError/pathTooLong(_:bytes:limit:)``.
    func requireRoom(forDatabase name: String) throws(CacheError) {
        // Without any, opening fails and says so.
        guard let system = sqlite3_vfs_find(nil) else { return }
        let path = appending(name)
        let limit = Int(system.pointee.mxPathname) - "-journal".utf8.count
        let bytes = path.lengthWithoutLinks(system) ?? path.length
        guard bytes <= limit else { throw .pathTooLong(path, bytes: bytes, limit: limit) }
    }

    /// `nil` where the links cannot be followed. What does not exist yet counts as it is.
    private func lengthWithoutLinks(_ system: UnsafeMutablePointer<sqlite3_vfs>) -> Int? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 14) { target in
            let result = withPlatformString { path in
                system.pointee.xFullPathname(system, path, CInt(target.count), target.baseAddress)
            }
            // The higher bits say whether there were links.
            return result & 0xFF == SQLITE_OK ? target.firstIndex(of: 0) : nil
        }
    }
}

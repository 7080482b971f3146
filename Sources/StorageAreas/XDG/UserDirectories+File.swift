internal import FileSystem
internal import SystemPackage

extension UserDirectories {
    /// The longest file that is read, in bytes; a real one has about 600.
    static let lengthLimit = 65536

    /// Reads `user-dirs.dirs` in a configuration folder; without the file, no folder is chosen.
    ///
    /// A symbolic link is followed: users keep their configuration in repositories and link to it.
    ///
    /// - Throws: ``StorageAreasError/userDirectoriesUnreadable(_:_:)``, with `EFBIG` when the file is
    ///   longer than ``lengthLimit``.
    init(in configuration: FilePath, of fileSystem: any FileSystem) throws(StorageAreasError) {
        let path = configuration.appending("user-dirs.dirs")
        do throws(FileSystemError) {
            // One byte more than allowed reveals a longer file without trusting the length in its inode.
            let bytes = try fileSystem.withFile(path, in: .workingDirectory, .readFollowingLinks) {
                file throws(FileSystemError) in
                try fileSystem.prefix(of: file, count: Self.lengthLimit + 1)
            }
            guard bytes.count <= Self.lengthLimit else {
                throw FileSystemError("read", path: path, errno: .fileTooLarge)
            }
            self.init(parsing: bytes)
        } catch {
            // ENOTDIR: the configuration "folder" is a file, so there is nothing in it either.
            guard error.isNotFound || error.errno == .notDirectory else {
                throw .userDirectoriesUnreadable(path, error.errno)
            }
            self.init(parsing: [])
        }
    }
}

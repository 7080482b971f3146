package import PrefetchFileSystem
package import SystemPackage

/// The file `CACHEDIR.TAG`, which tells restic, Borg, GNU tar and others that a folder is a cache and need not be
/// backed up.
package enum CacheDirectoryTag {
    package static let name: FilePath = "CACHEDIR.TAG"
    /// The first 43 bytes, which identify the file.
    static let signature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)

    private static let contents =
        signature
        + Array(
            """

            # This folder holds a cache: its files can be downloaded again and need no backup.
            # For information about cache directory tags see https://bford.info/cachedir/

            """.utf8)

    /// Creates the tag in a folder unless the name exists, which costs one `fstatat`.
    ///
    /// - Throws: The error of the call that failed. A partially written tag is removed.
    package static func ensure(in directory: Descriptor, of fileSystem: any FileSystem)
        throws(FileSystemError)
    {
        guard try fileSystem.attributes(of: name, in: directory) == nil else { return }
        let file: Descriptor
        do {
            file = try fileSystem.open(name, in: directory, .createNew(.ownerReadWrite))
        } catch {
            // Another process created it first.
            if error.errno == .fileExists { return }
            throw error
        }
        defer { fileSystem.close(file) }
        do {
            try fileSystem.writeAll(contents, to: file, at: 0)
        } catch {
            try fileSystem.unlink(name, in: directory)
            throw error
        }
    }

    /// Whether a folder has a valid tag: a regular file, not a symbolic link, that begins with the signature.
    package static func isTagged(_ directory: Descriptor, of fileSystem: any FileSystem)
        throws(FileSystemError) -> Bool
    {
        guard try fileSystem.attributes(of: name, in: directory)?.kind == .regular else { return false }
        return try fileSystem.withFile(name, in: directory, .read) { file throws(FileSystemError) in
            try fileSystem.bytes(of: file, count: signature.count) == signature
        }
    }
}

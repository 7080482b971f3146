public import PrefetchFileSystem
package import SystemPackage

/// The file `CACHEDIR.TAG`, by which restic, borg, GNU tar and others recognise a folder that holds
/// a cache and need not be backed up.
public enum CacheDirectoryTag {
    package static let name: FilePath = "CACHEDIR.TAG"
    /// The 43 bytes that identify the file, whatever follows.
    static let signature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)

    private static let contents =
        signature
        + Array(
            """

            # This folder holds a cache: its files can be downloaded again and need no backup.
            # For information about cache directory tags see https://bford.info/cachedir/

            """.utf8)

    /// Writes the tag into a folder that has nothing of that name. An existing file is left unchanged,
    /// at the cost of one `fstatat`.
    ///
    /// - Throws: The error of the call that failed; a tag that could not be written is removed again.
    public static func ensure(in directory: Descriptor, of fileSystem: any FileSystem)
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

    /// Whether a folder has a valid tag: a regular file, not a link, that begins with the signature.
    public static func isTagged(_ directory: Descriptor, of fileSystem: any FileSystem)
        throws(FileSystemError) -> Bool
    {
        guard try fileSystem.attributes(of: name, in: directory)?.kind == .regular else { return false }
        return try fileSystem.withFile(name, in: directory, .read) { file throws(FileSystemError) in
            try fileSystem.bytes(of: file, count: signature.count) == signature
        }
    }
}

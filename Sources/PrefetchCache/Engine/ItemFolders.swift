internal import FileSystem
internal import ItemFormat
internal import Synchronization
internal import SystemPackage

/// The item folders that this process has created or checked. A rename follows a link in the path, so a
/// folder is checked not to be one before the first item is moved into it.
final class ItemFolders: Sendable {
    private let known = Mutex<Set<UInt8>>([])

    /// Creates the folder for an item, unless it is known.
    ///
    /// - Throws: `ENOTDIR` when the name is taken by something else, such as a link to a folder.
    func require(for hash: KeyHash, in items: Directory) throws(FileSystemError) {
        if known.withLock({ $0.contains(Self.number(of: hash)) }) { return }
        try make(for: hash, in: items)
    }

    /// As ``require(for:in:)``, for a folder that may have been removed.
    func make(for hash: KeyHash, in items: Directory) throws(FileSystemError) {
        let name = CacheLayout.folder(of: hash)
        let isNew = try items.fileSystem.makeDirectory(
            name, in: items.descriptor, permissions: CacheLayout.folderPermissions)
        if !isNew, let found = try items.fileSystem.attributes(of: name, in: items.descriptor) {
            guard found.kind == .directory else {
                throw FileSystemError("open", path: CacheLayout.items.pushing(name), errno: .notDirectory)
            }
        }
        known.withLock { _ = $0.insert(Self.number(of: hash)) }
    }

    private static func number(of hash: KeyHash) -> UInt8 { UInt8(truncatingIfNeeded: hash.high >> 56) }
}

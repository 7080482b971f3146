internal import FileSystem
internal import ItemFormat
internal import Synchronization
internal import SystemPackage

/// The folders of items that this process has made or looked at. A rename follows a link in front of the name: before
/// the first item goes into a folder, it is seen to be one, and no link to one.
final class ItemFolders: Sendable {
    private let known = Mutex<Set<UInt8>>([])

    /// Makes the folder for an item, unless it is known.
    ///
    /// - Throws: `ENOTDIR` where something else is in its place, for instance a link to a folder.
    func require(for hash: KeyHash, in items: Directory) throws(FileSystemError) {
        if known.withLock({ $0.contains(Self.number(of: hash)) }) { return }
        try make(for: hash, in: items)
    }

    /// As ``require(for:in:)``, where the folder may be gone.
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

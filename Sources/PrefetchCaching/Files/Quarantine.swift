internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The folder for damaged files. They stay until space is needed, so that they can be examined, and are
/// evicted before any item.
struct Quarantine: Sendable {
    let folders: CacheFolders
    let charge: ChargedLength

    /// Moves an item's file to the quarantine, replacing an earlier damaged file of the same key.
    ///
    /// - Returns: The row of the file at its new location, or `nil` when it was already gone.
    func add(_ hash: KeyHash) throws(CacheError) -> CatalogRow? {
        let fileSystem = folders.fileSystem
        let folder = try folders.quarantine()
        let items = folders.current.items
        // The catalog identifies files by hash, and the key may be stored again at once.
        let hashThere = hash.inQuarantine
        let name = FilePath(hashThere.hexadecimal)
        let file = CacheLayout.file(of: hash)
        return try onFiles { () throws(FileSystemError) in
            // Read first: a failure after the rename would leave a file without a row.
            guard var attributes = try fileSystem.attributes(of: file, in: items.descriptor) else {
                return nil
            }
            do throws(FileSystemError) {
                try fileSystem.rename(
                    file, in: items.descriptor, to: name, in: folder.descriptor, .replacing)
            } catch {
                guard error.isNotFound else { throw error }
                return nil
            }
            do throws(FileSystemError) {
                // Another process may have stored the key again in between.
                guard let now = try fileSystem.attributes(of: name, in: folder.descriptor) else { return nil }
                attributes = now
            } catch {
                // The attributes from before the rename must suffice.
            }
            return CatalogRow(
                opaque: .quarantined, hash: hashThere, storedBytes: attributes.length,
                chargedBytes: charge(storedBytes: attributes.length))
        }
    }
}

extension KeyHash {
    /// The hash under which the catalog lists a quarantined item. Applying it twice gives the original.
    var inQuarantine: KeyHash { KeyHash(high: ~high, low: low) }
}

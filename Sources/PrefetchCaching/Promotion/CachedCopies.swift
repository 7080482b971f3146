internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat

/// The cached copies of items that are promoted: checks for them, and removes them together with their catalog notes.
struct CachedCopies: Sendable {
    let folders: CacheFolders
    let files: PromotedFiles
    let locks: ItemLocks
    let catalog: Catalog

    /// Whether there is a file under the name of an item.
    func isThere(_ key: ItemKey) throws(CacheError) -> Bool {
        try files.attributes(of: CacheLayout.file(of: key.hash), in: folders.current.items) != nil
    }

    /// Removes the cached copy of a promoted item, if there is one. A failure is only logged: the item is already
    /// promoted.
    func drop(_ key: ItemKey) {
        do {
            try remove(key, because: .opened)
        } catch {
            files.environment.logger.warning(
                "The cached copy of a promoted item could not be removed.",
                metadata: ["key": "\(key)", "error": "\(error)"])
        }
    }

    /// - Parameters:
    ///   - identity: Only this file is removed, unless it is `nil`.
    ///   - reason: Why it is removed.
    @discardableResult
    func remove(_ key: ItemKey, _ identity: FileAttributes.Identity? = nil, because reason: Departure)
        throws(CacheError) -> Bool
    {
        try remove(key.hash, identity, because: reason)
    }

    /// - Returns: Whether there was one.
    @discardableResult
    func remove(_ hash: KeyHash, _ identity: FileAttributes.Identity?, because reason: Departure)
        throws(CacheError) -> Bool
    {
        let items = folders.current.items
        let name = CacheLayout.file(of: hash)
        return try locks.hold(hash) { () throws(CacheError) in
            // A symbolic link or the like under the name of an item is not ours.
            guard let found = try files.attributes(of: name, in: items), found.kind == .regular,
                identity == nil || found.identity == identity
            else { return false }
            return try catalog.removing(hash) { place throws(CacheError) in
                guard try files.discard(name, in: items) else {
                    catalog.noteUnclear(hash, at: place)
                    return false
                }
                catalog.noteRemoved(hash, because: reason, at: place)
                return true
            }
        }
    }
}

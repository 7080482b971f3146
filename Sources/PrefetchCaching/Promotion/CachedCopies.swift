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
    ///
    /// - Parameter identity: Only this file counts, unless it is `nil`.
    func isThere(_ key: ItemKey, _ identity: FileAttributes.Identity? = nil) throws(CacheError) -> Bool {
        let found = try files.attributes(of: CacheLayout.file(of: key.hash), in: folders.current.items)
        return identity == nil ? found != nil : found?.identity == identity
    }

    /// Removes the cached copies of items that `commit` makes those of their user. Copies that are there are listed before: if
    /// this process dies in between, the next one finds what is outdated. A failure to look for one or to remove it is only logged.
    func drop(_ keys: [ItemKey], after commit: () throws(CacheError) -> Void = {}) throws(CacheError) {
        var places: [(KeyHash, WriteIntents.Place)] = []
        for hash in keys.map(\.hash) {
            do {
                if try attributes(of: hash) == nil { continue }
                places.append((hash, catalog.intend(toRemove: hash)))
            } catch {
                warn(hash, error)
            }
        }
        do {
            try commit()
        } catch {
            for (hash, place) in places { catalog.noteUnclear(hash, at: place) }
            throw error
        }
        for (hash, place) in places {
            do {
                try locks.hold(hash) { () throws(CacheError) in
                    _ = try discard(hash, because: .opened, at: place)
                }
            } catch {
                catalog.noteUnclear(hash, at: place)
                warn(hash, error)
            }
        }
    }

    private func warn(_ hash: KeyHash, _ error: CacheError) {
        files.environment.logger.warning(
            "The cached copy of a promoted item could not be removed.",
            metadata: ["hash": "\(hash.hexadecimal)", "error": "\(error)"])
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
        try locks.hold(hash) { () throws(CacheError) in
            guard let found = try attributes(of: hash), identity == nil || found.identity == identity else {
                return false
            }
            return try catalog.removing(hash) { place throws(CacheError) in
                try discard(hash, because: reason, at: place)
            }
        }
    }

    /// - Returns: `nil` when there is none. A symbolic link or the like under the name of an item is not ours.
    private func attributes(of hash: KeyHash) throws(CacheError) -> FileAttributes? {
        let found = try files.attributes(of: CacheLayout.file(of: hash), in: folders.current.items)
        return found?.kind == .regular ? found : nil
    }

    private func discard(_ hash: KeyHash, because reason: Departure, at place: WriteIntents.Place)
        throws(CacheError) -> Bool
    {
        guard try files.discard(CacheLayout.file(of: hash), in: folders.current.items) else {
            catalog.noteUnclear(hash, at: place)
            return false
        }
        catalog.noteRemoved(hash, because: reason, at: place)
        return true
    }
}

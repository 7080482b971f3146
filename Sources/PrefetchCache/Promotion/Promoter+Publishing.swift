internal import FileSystem
internal import SystemPackage

/// Giving a staged file its name, and committing.
extension Promoter {
    /// Publishes the staged file under its name, or under the next free one, and commits.
    func publish(_ intent: LedgerEntry, from staging: Directory, in folder: Directory)
        throws(CacheError) -> LedgerEntry
    {
        var entry = intent
        var number = 1
        while true {
            let tried = entry
            let outcome = try coordinated(.publish, tried) { () throws(CacheError) in
                try putInPlace(tried, from: staging, in: folder)
            }
            guard case .isTaken(let failure) = outcome else { break }
            repeat {
                number += 1
                entry.name = intent.plainName.numbered(number)
            } while try isSurelyTaken(entry, in: folder, intent)
            try ledger.put(entry)
            // After a failed flush a later one would mean nothing, so the file is not adopted.
            if let failure { throw failure }
        }
        return try commit(entry, in: folder)
    }

    /// Whether a name is certain to be taken. Trying it would cost a transaction of the ledger.
    private func isSurelyTaken(_ entry: LedgerEntry, in folder: Directory, _ first: LedgerEntry)
        throws(CacheError) -> Bool
    {
        // Recovery may have found this name in the ledger; it was tried first.
        guard entry.name != first.name else { return true }
        let found = try coordinated(.readMetadata, entry) { () throws(CacheError) in
            try attributes(of: entry, in: folder)
        }
        guard let found else { return false }
        return found.kind != .regular || found.length != entry.contentLength
    }

    private enum Placing {
        case isInPlace
        /// The name is taken by another file, or that file could not be adopted.
        case isTaken(CacheError?)
    }

    /// Publishes the staged file under the entry's name, or adopts the file that has it.
    private func putInPlace(_ entry: LedgerEntry, from staging: Directory, in folder: Directory)
        throws(CacheError) -> Placing
    {
        if try publishOnce(entry, from: staging, in: folder) { return .isInPlace }
        do {
            guard try isIdentical(entry, in: folder) else { return .isTaken(nil) }
        } catch .destination(_, let error) where error.isNotPermitted {
            // A file that may not be read cannot be adopted.
            return .isTaken(nil)
        }
        do {
            try flushFile(of: entry, in: folder)
            // The name may be as new as the content, and the staged file is still the only safe copy.
            try onDestination(entry) { () throws(FileSystemError) in
                try fileSystem.synchronize(folder.descriptor)
            }
            try discard(FilePath(entry.stagedName), in: staging)
            return .isInPlace
        } catch {
            return .isTaken(error)
        }
    }

    /// Makes the content of a file that was found under the entry's name durable.
    func flushFile(of entry: LedgerEntry, in folder: Directory) throws(CacheError) {
        try onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.withFile(entry.name.path, in: folder.descriptor, .read) {
                file throws(FileSystemError) in try fileSystem.synchronize(file)
            }
        }
    }

    /// Makes the name of a published file durable, and then commits: after a crash, finding the file there
    /// does not mean that its name would survive the next one.
    func commit(_ intent: LedgerEntry, in folder: Directory) throws(CacheError) -> LedgerEntry {
        try coordinated(.write, intent) { () throws(CacheError) in
            try renewMark(of: intent, in: folder)
            try onDestination(intent) { () throws(FileSystemError) in
                try fileSystem.synchronize(folder.descriptor)
            }
        }
        var entry = intent
        entry.state = .committed
        try ledger.put(entry)
        removeCommitted(entry.key)
        return entry
    }

    /// Removes the cached copy of an item whose promotion is durable.
    func removeCommitted(_ key: ItemKey) {
        dropCachedCopy(key)
        catalog.noteAbsent(key.hash)
    }

    /// Gives the staged file its name, and sees that it is the very one that was staged: whoever may write to a
    /// staging folder can exchange it until then. Where inodes do not survive a rename, its content decides.
    ///
    /// - Returns: `false` when there is a file of that name.
    /// - Throws: `ESTALE` for another file, which goes back into staging.
    func publishOnce(_ entry: LedgerEntry, from staging: Directory, in folder: Directory)
        throws(CacheError) -> Bool
    {
        do {
            try fileSystem.rename(
                FilePath(entry.stagedName), in: staging.descriptor, to: entry.name.path,
                in: folder.descriptor, .exclusive)
        } catch {
            if error.errno == .fileExists { return false }
            throw .destination(path(of: entry), error)
        }
        guard let file = try attributes(of: entry, in: folder), file.identity.inode != entry.inode,
            try !isIdentical(entry, in: folder)
        else { return true }
        try onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.rename(
                entry.name.path, in: folder.descriptor, to: FilePath(entry.stagedName),
                in: staging.descriptor, .exclusive)
        }
        throw .destination(
            path(of: entry),
            FileSystemError("rename", path: FilePath(entry.stagedName), errno: .staleNFSFileHandle))
    }

    /// Whether the file under the entry's name holds exactly the content of the item.
    func isIdentical(_ entry: LedgerEntry, in folder: Directory) throws(CacheError) -> Bool {
        guard let attributes = try attributes(of: entry, in: folder),
            attributes.kind == .regular, attributes.length == entry.contentLength
        else { return false }
        do throws(FileSystemError) {
            return try checksum(of: entry.name.path, in: folder) == entry.contentChecksum
        } catch {
            guard error.isNotFound || error.isNoRegularFile else {
                throw .destination(path(of: entry), error)
            }
            return false
        }
    }
}

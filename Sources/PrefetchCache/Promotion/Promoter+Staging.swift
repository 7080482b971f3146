internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// Getting the content of an item into staging, whole and durable: decoded, or by taking its file.
extension Promoter {
    /// An identity item of at most this many bytes is verified before it is handed over, which takes
    /// less time than the flushes. A larger one is not read at all, so that its promotion does not
    /// depend on its size.
    static let longestVerified: Int64 = 4 << 20

    func damage(of reader: ItemReader) throws(CacheError) -> Miss? {
        guard reader.footer.contentLength <= Self.longestVerified else { return nil }
        do throws(ItemFormatError) {
            try reader.stream(0..<reader.footer.contentLength) { _ in }
            return nil
        } catch {
            return try Miss(error)
        }
    }

    /// Decodes the content into a new staging file, every chunk verified, and makes it durable.
    /// - Returns: The inode of the file, and when it was created.
    func decode(_ reader: ItemReader, to entry: LedgerEntry, in staging: Directory)
        throws(CacheError) -> (inode: UInt64, birthTime: Int64?)
    {
        let name = FilePath(entry.stagedName)
        let file: Descriptor
        do {
            file = try fileSystem.open(
                name, in: staging.descriptor, .createNew(CacheLayout.filePermissions))
        } catch {
            throw .destination(path(of: entry), error)
        }
        defer { fileSystem.close(file) }
        do {
            try copy(reader, to: file, for: entry)
            try onDestination(entry) { () throws(FileSystemError) in
                try mark(file, entry.backup)
                try fileSystem.synchronize(file)
                try fileSystem.synchronize(staging.descriptor)
            }
            return (try attributes(of: file).identity.inode, try birthTime(of: file))
        } catch {
            try discard(name, in: staging)
            throw error
        }
    }

    private func copy(_ reader: ItemReader, to file: Descriptor, for entry: LedgerEntry) throws(CacheError) {
        var offset: Int64 = 0
        var failure: FileSystemError?
        do throws(ItemFormatError) {
            try reader.stream(0..<reader.footer.contentLength) { piece throws(ItemFormatError) in
                do throws(FileSystemError) {
                    try fileSystem.writeAll(piece, to: file, at: offset)
                } catch {
                    failure = error
                    throw .notAdmitted
                }
                offset += Int64(piece.count)
            }
        } catch {
            if let failure { throw .destination(path(of: entry), failure) }
            try onItem { () throws(ItemFormatError) in throw error }
        }
    }

    /// Takes the item's own file into staging and cuts its footer off.
    /// - Returns: `false` when the item was evicted or replaced in the meantime; nothing has changed.
    func take(_ item: FileAttributes, as entry: LedgerEntry, into staging: Directory)
        throws(CacheError) -> Bool
    {
        let items = folders.current.items
        let isTaken = try itemLocks.hold(entry.key.hash) { () throws(CacheError) in
            try rename(item, as: entry, from: items, into: staging)
        }
        guard isTaken else { return false }
        try finishTaking(entry, in: staging)
        try onFiles { () throws(FileSystemError) in
            try fileSystem.withFile(
                CacheLayout.folder(of: entry.key.hash), in: items.descriptor, .directory
            ) { folder throws(FileSystemError) in try fileSystem.synchronize(folder) }
        }
        return true
    }

    private func rename(
        _ item: FileAttributes, as entry: LedgerEntry, from items: Directory, into staging: Directory
    ) throws(CacheError) -> Bool {
        let name = FilePath(entry.stagedName)
        let origin = CacheLayout.file(of: entry.key.hash)
        do {
            try fileSystem.rename(origin, in: items.descriptor, to: name, in: staging.descriptor, .exclusive)
        } catch {
            if error.isNotFound { return false }
            throw .fileSystem(error)
        }
        guard try attributes(of: name, in: staging)?.identity == item.identity else {
            // Stored anew since it was opened: this is another item, and it goes back.
            try onFiles { () throws(FileSystemError) in
                try fileSystem.rename(
                    name, in: staging.descriptor, to: origin, in: items.descriptor, .exclusive)
            }
            return false
        }
        catalog.noteRemoved(entry.key.hash)
        return true
    }

    /// Cuts the footer off a staged item and makes the file and its name durable.
    func finishTaking(_ entry: LedgerEntry, in staging: Directory) throws(CacheError) {
        try onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.withFile(FilePath(entry.stagedName), in: staging.descriptor, .readWrite) {
                file throws(FileSystemError) in
                try fileSystem.resize(file, to: entry.contentLength)
                try mark(file, entry.backup)
                try fileSystem.synchronize(file)
            }
            try fileSystem.synchronize(staging.descriptor)
        }
    }
}

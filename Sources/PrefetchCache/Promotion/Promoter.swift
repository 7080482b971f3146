internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import Synchronization
internal import SystemPackage

/// Hands an item over to the user at its first open, whole and durable, exactly once.
///
/// The order is what makes it safe: the content is durable in staging before the intent is; the
/// intent is durable before the file appears under its name; the name is durable before the
/// promotion is committed; and only then the cached copy goes. A crash between any two steps leaves
/// what ``Recovery`` needs.
final class Promoter: Sendable {
    let environment: CacheEnvironment
    let folders: CacheFolders
    let support: SupportFolders
    let ledger: Ledger
    let catalog: Catalog
    let itemLocks: ItemLocks
    let codecs: CodecPool
    private let lastNumber = Atomic<UInt64>(0)

    init(
        environment: CacheEnvironment, folders: CacheFolders, support: SupportFolders, ledger: Ledger,
        catalog: Catalog, itemLocks: ItemLocks, codecs: CodecPool
    ) {
        self.environment = environment
        self.folders = folders
        self.support = support
        self.ledger = ledger
        self.catalog = catalog
        self.itemLocks = itemLocks
        self.codecs = codecs
    }

    var fileSystem: any FileSystem { environment.fileSystem }
    var locks: KeyLock { KeyLock(staging: support.staging) }

    /// The file of a promoted item, handing it over first when nobody has.
    ///
    /// - Throws: ``CacheError/movedOrDeleted(key:_:)`` when the user took the file away and there is
    ///   no cached copy; ``CacheError/destination(_:_:)`` when the file cannot be put in its place.
    func open(_ key: ItemKey) throws(CacheError) -> Lookup<OpenedItem> {
        if let entry = try ledger.entry(for: key), entry.state == .committed,
            let opened = try existingFile(of: entry)
        {
            // A crash after the commit may have left the cached copy behind.
            try removeCachedCopy(key)
            return .hit(opened)
        }
        let result = try locks.hold(key.hash, waiting: true) { () throws(CacheError) in
            try openLocked(key)
        }
        return result ?? .miss(.absent)
    }

    private func openLocked(_ key: ItemKey) throws(CacheError) -> Lookup<OpenedItem> {
        var entry = try ledger.entry(for: key)
        if let intent = entry, intent.state == .intent {
            try Recovery(self).complete(intent)
            entry = try ledger.entry(for: key)
        }
        if let entry, let opened = try existingFile(of: entry) {
            try removeCachedCopy(key)
            return .hit(opened)
        }
        let result = try promote(key)
        if let entry, case .miss(.absent) = result {
            throw .movedOrDeleted(key: key, path(of: entry))
        }
        return result
    }

    /// The file of a committed promotion, or `nil` when it is not in its place.
    func existingFile(of entry: LedgerEntry, isFirstOpen: Bool = false) throws(CacheError) -> OpenedItem? {
        let folder = try destination(in: entry.area)
        guard let attributes = try attributes(of: entry.name.path, in: folder), attributes.kind == .regular
        else { return nil }
        return opened(entry, isFirstOpen: isFirstOpen)
    }

    // MARK: Promotion

    private func promote(_ key: ItemKey) throws(CacheError) -> Lookup<OpenedItem> {
        let items = folders.current.items
        let file: Descriptor
        do {
            file = try fileSystem.open(CacheLayout.file(of: key.hash), in: items.descriptor, .read)
        } catch {
            if error.isNotFound || error.isNoRegularFile { return .miss(.absent) }
            throw .fileSystem(error)
        }
        defer { fileSystem.close(file) }

        let reader: ItemReader
        do throws(ItemFormatError) {
            reader = try ItemReader(file, of: fileSystem, codecs: codecs)
            guard reader.footer.metadata.key == key else { throw ItemFormatError.damaged(.key) }
        } catch {
            return .miss(try Miss(error))
        }
        return try promote(key, file, reader)
    }

    private func promote(_ key: ItemKey, _ file: Descriptor, _ reader: ItemReader)
        throws(CacheError) -> Lookup<OpenedItem>
    {
        let footer = reader.footer
        let folder = try destination(in: footer.metadata.destination.area)
        let staging = try stagingFolder(for: folder, footer.metadata.destination.area)
        let item = try attributes(of: file)
        let isOnOneVolume = try attributes(of: staging.descriptor).identity.device == item.identity.device

        var entry = LedgerEntry(
            key: key, state: .intent,
            mode: footer.encoding == .identity && isOnOneVolume ? .rename : .decode,
            area: footer.metadata.destination.area, name: footer.metadata.destination.name,
            backup: footer.metadata.destination.backup, contentLength: footer.contentLength,
            contentChecksum: footer.contentChecksum, stagedName: nextStagedName(key),
            inode: item.identity.inode, openedAt: environment.now())
        switch entry.mode {
        case .decode:
            do {
                entry.inode = try decode(reader, to: entry, in: staging)
            } catch {
                if case .item(let damage) = error { return .miss(try Miss(damage)) }
                throw error
            }
            try ledger.put(entry)
        case .rename:
            // Once the item is in staging it can no longer be read from the cache: that must not
            // happen for a destination that refuses it.
            try onDestination(entry) { () throws(FileSystemError) in
                try fileSystem.requireWritable(folder.descriptor)
            }
            if let damage = try damage(of: reader) { return .miss(damage) }
            try ledger.put(entry)
            guard try take(item, as: entry, into: staging) else {
                try ledger.remove(key)
                return .miss(.absent)
            }
        }
        let committed = try publish(entry, from: staging, in: folder)
        return .hit(opened(committed, isFirstOpen: true))
    }

    /// An identity item of at most this many bytes is verified before it is handed over, which takes
    /// less time than the flushes. A larger one is not read at all, so that its promotion does not
    /// depend on its size.
    static let longestVerified: Int64 = 4 << 20

    private func damage(of reader: ItemReader) throws(CacheError) -> Miss? {
        guard reader.footer.contentLength <= Self.longestVerified else { return nil }
        do throws(ItemFormatError) {
            try reader.stream(0..<reader.footer.contentLength) { _ in }
            return nil
        } catch {
            return try Miss(error)
        }
    }

    /// Decodes the content into a new staging file, every chunk verified, and makes it durable.
    /// - Returns: The inode of the file.
    private func decode(_ reader: ItemReader, to entry: LedgerEntry, in staging: Directory)
        throws(CacheError) -> UInt64
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
            return try attributes(of: file).identity.inode
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
    private func take(_ item: FileAttributes, as entry: LedgerEntry, into staging: Directory)
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

    /// Puts the staged file under its name, or under the next free one, and commits.
    func publish(_ intent: LedgerEntry, from staging: Directory, in folder: Directory)
        throws(CacheError) -> LedgerEntry
    {
        var entry = intent
        var number = 1
        while try !publishOnce(entry, from: staging, in: folder) {
            if try isIdentical(entry, in: folder) {
                try discard(FilePath(entry.stagedName), in: staging)
                break
            }
            number += 1
            entry.name = intent.name.numbered(number)
            try ledger.put(entry)
        }
        try onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.synchronize(folder.descriptor)
        }
        return try commit(entry)
    }

    func commit(_ intent: LedgerEntry) throws(CacheError) -> LedgerEntry {
        var entry = intent
        entry.state = .committed
        try ledger.put(entry)
        try removeCachedCopy(entry.key)
        catalog.noteAbsent(entry.key.hash)
        return entry
    }

    /// - Returns: `false` when there is a file of that name.
    private func publishOnce(_ entry: LedgerEntry, from staging: Directory, in folder: Directory)
        throws(CacheError) -> Bool
    {
        do {
            try fileSystem.rename(
                FilePath(entry.stagedName), in: staging.descriptor, to: entry.name.path,
                in: folder.descriptor, .exclusive)
            return true
        } catch {
            if error.errno == .fileExists { return false }
            throw .destination(path(of: entry), error)
        }
    }

    /// Whether the file under the entry's name holds just the content of the item.
    func isIdentical(_ entry: LedgerEntry, in folder: Directory) throws(CacheError) -> Bool {
        guard let attributes = try attributes(of: entry.name.path, in: folder),
            attributes.kind == .regular, attributes.length == entry.contentLength
        else { return false }
        return try checksum(of: entry.name.path, in: folder) == entry.contentChecksum
    }

    private func nextStagedName(_ key: ItemKey) -> String {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        return CacheLayout.staged(key.hash, session: environment.session, number: number).string
    }
}

internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Where an item is about to go.
struct PromotionPlace {
    let folder: Directory
    /// The path of `folder` in its area.
    let path: FolderPath?
    /// A folder on the volume of `folder`.
    let staging: Directory
    /// Whether an item can be renamed into `staging`.
    let isOnVolumeOfItems: Bool
}

/// The first half of a promotion: makes the content of an item complete and durable in staging, by decoding it or
/// moving its file, and enters the intent.
final class Stager: Sendable {
    let environment: CacheEnvironment
    let folders: CacheFolders
    let files: PromotedFiles
    let copies: CachedCopies
    let ledger: any PromotionLedger
    let admission: Admission
    let codecs: CodecPool
    let leftovers: Leftovers

    init(
        environment: CacheEnvironment, folders: CacheFolders, files: PromotedFiles, copies: CachedCopies,
        ledger: any PromotionLedger, admission: Admission, codecs: CodecPool, leftovers: Leftovers
    ) {
        self.environment = environment
        self.folders = folders
        self.files = files
        self.copies = copies
        self.ledger = ledger
        self.admission = admission
        self.codecs = codecs
        self.leftovers = leftovers
    }

    var fileSystem: any FileSystem { environment.fileSystem }
    private var destinations: Destinations { files.destinations }
    private var support: SupportFolders { destinations.support }

    // MARK: Before anything changes

    /// Whether an item was stored after the one that an intent is about. Whoever entered the intent would have found that.
    func hasNewerItem(than intent: LedgerEntry) throws(CacheError) -> Bool {
        guard let storedAt = intent.provenance?.storedAt, let file = try folders.openItem(intent.key.hash)
        else { return false }
        defer { fileSystem.close(file) }
        guard case .hit(let reader) = try reader(of: file, for: intent.key) else { return false }
        return reader.footer.metadata.storedAt > storedAt
    }

    /// Checks the footer and the key of an open item.
    func reader(of file: Descriptor, for key: ItemKey) throws(CacheError) -> Lookup<ItemReader> {
        let reader: ItemReader
        do throws(ItemFormatError) {
            reader = try ItemReader(file, of: fileSystem, codecs: codecs)
            guard reader.footer.metadata.key == key else { throw ItemFormatError.damaged(.key) }
        } catch {
            return .miss(try Miss(error))
        }
        if reader.footer.metadata.hasExpired(at: environment.now) { return .miss(.expired) }
        return .hit(reader)
    }

    /// Opens the folders that an item needs, and creates those that are missing.
    ///
    /// - Parameter held: The keys whose locks the caller holds. Nothing is staged for them yet.
    func place(for target: Destination, holding held: [KeyHash]) throws(CacheError) -> PromotionPlace {
        let (folder, path) = try destinations.destination(of: target)
        let staging = try destinations.stagingFolder(for: folder, target.area, path)
        if path != nil, staging !== support.staging {
            try leftovers.sweep(staging, holding: held)
        }
        let items = folders.current.items
        let isOnOneVolume = try onFiles(support.isOneVolume(items, staging))
        return PromotionPlace(
            folder: folder, path: path, staging: staging, isOnVolumeOfItems: isOnOneVolume)
    }

    /// Protects an item from eviction while the descriptor is open.
    ///
    /// - Returns: `nil` for an item that cannot be leased: it may be evicted, which is a miss.
    func lease(_ key: ItemKey) -> Descriptor? {
        do {
            return try folders.openItem(key.hash)
        } catch {
            return nil
        }
    }

    /// The bytes of content that opening an item writes to the volume of the items; `nil` when they go to another
    /// volume, the item cannot be opened at all, or this process has entered its intent: opening then makes room.
    func bytesToOpen(_ key: ItemKey, _ file: Descriptor) throws(CacheError) -> Int64? {
        guard case .hit(let reader) = try reader(of: file, for: key),
            let target = reader.footer.metadata.destination
        else { return nil }
        guard try isOnVolumeOfItems(target),
            try ledger.entry(for: key)?.stagedName.contains(environment.session) != true
        else { return nil }
        return reader.footer.encoding == .identity ? 0 : reader.footer.contentBytes
    }

    func isOnVolumeOfItems(_ target: Destination) throws(CacheError) -> Bool {
        let folder: Directory
        do {
            folder = try destinations.destination(of: target).folder
        } catch {
            // Out of the very space that is being asked about.
            guard error.isOutOfSpace else { throw error }
            folder = support.staging
        }
        return try admission.watch.isOnVolumeOfItems(folder)
    }

    /// The intent to promote an item, and the attributes of its file.
    func intent(
        _ footer: ItemFooter, of file: Descriptor, to target: Destination, in place: PromotionPlace
    ) throws(CacheError) -> (entry: LedgerEntry, item: FileAttributes) {
        let key = footer.metadata.key
        let item = try files.attributes(of: file)
        // A file with a second hard link must not be truncated under that name.
        let isRenamed =
            footer.encoding == .identity && place.isOnVolumeOfItems && item.linkCount == 1
            && footer.metadata.parts.isEmpty
        let entry = LedgerEntry(
            key: key, state: .intent, mode: isRenamed ? .rename : .decode,
            area: target.area, folder: place.path, name: target.name,
            plainName: target.name, backup: target.backup, contentBytes: footer.contentBytes,
            contentChecksum: footer.contentChecksum, stagedName: files.nextStagedName(key),
            inode: item.identity.inode, birthTime: isRenamed ? try files.birthTime(of: file) : nil,
            openedAt: environment.now(), provenance: Provenance(footer.metadata),
            parts: footer.metadata.parts)
        return (entry, item)
    }

    /// Whether to copy the content although the item's file could be renamed: for that, it has to be flushed three times
    /// before it gets its name, and a copy once.
    func isBetterCopied(_ intent: LedgerEntry) -> Bool {
        intent.mode == .rename && intent.contentBytes <= environment.longestCopy
    }

    /// The folder of an intent. A changed path is recorded in the ledger.
    func destination(of intent: inout LedgerEntry) throws(CacheError) -> Directory {
        let entered = intent
        let folder = try destinations.destination(in: intent.area, &intent.folder)
        if intent.folder != entered.folder { try ledger.put(intent, replacing: entered) }
        return folder
    }

    // MARK: Staging

    /// Verifies an identity item, unless it is large and was written since the last boot, see
    /// ``PrefetchItemFormat/ItemFooter/recordsBoot(_:contentBytes:)``, and does not begin with a hole: the system may
    /// have emptied its file while it was written.
    func damage(_ reader: ItemReader, for watcher: OpenWatcher) throws(CacheError) -> Miss? {
        if isOfThisBoot(reader), try !onItem(reader.beginsWithHole()) { return nil }
        do {
            try stream(reader, for: watcher) { _ in }
            return nil
        } catch .item(let damage) {
            return try Miss(damage)
        }
    }

    /// Whether an item is large and was written since the last boot.
    func isOfThisBoot(_ reader: ItemReader) -> Bool {
        reader.footer.boot.map { $0 == Checksum.ofBoot(environment.bootIdentifier) } ?? false
    }

    /// Decodes the content into a new staging file, verifying every chunk. On failure the file is removed.
    func decode(
        _ reader: ItemReader, to entry: inout LedgerEntry, in staging: Directory, for watcher: OpenWatcher
    ) throws(CacheError) -> StagedContent {
        try stage(&entry, in: staging) { entry, content throws(CacheError) in
            try stream(reader, for: watcher) { piece throws(CacheError) in
                try destinations.onDestination(entry, content.append(piece))
            }
            try destinations.onDestination(entry) { () throws(FileSystemError) in
                _ = try files.mark(content.descriptor, entry.backup, in: entry.area, entry.folder)
            }
        }
    }

    /// Creates a staging file, or the folder of a bundle, with what `body` writes to it, and records its identity in the
    /// intent.
    @discardableResult
    private func stage(
        _ entry: inout LedgerEntry, in staging: Directory,
        _ body: (LedgerEntry, StagedContent) throws(CacheError) -> Void
    ) throws(CacheError) -> StagedContent {
        let name = FilePath(entry.stagedName)
        let content = try destinations.onDestination(
            entry, StagedContent(creating: name, of: entry.parts, for: entry.area, in: staging))
        do {
            entry.inode = try files.attributes(of: content.descriptor).identity.inode
            entry.birthTime = try files.birthTime(of: content.descriptor)
            entry.origin = .written
            try body(entry, content)
            return content
        } catch {
            try files.discardStaged(name, in: staging)
            throw error
        }
    }

    /// Writes a staged file before its name. Both are durable once the folder of the destination is flushed, which is on
    /// the same volume.
    func flush(_ content: StagedContent, for entry: LedgerEntry) throws(CacheError) {
        try destinations.onDestination(entry) { () throws(FileSystemError) in
            try content.flush { file throws(FileSystemError) in try fileSystem.order(file) }
        }
    }

    /// Hands the verified content of an item to `body`, piece by piece.
    ///
    /// - Throws: ``CacheError/item(_:)`` for damage, ``CacheError/cancelled``, and whatever `body` throws.
    private func stream(
        _ reader: ItemReader, for watcher: OpenWatcher,
        _ body: (UnsafeRawBufferPointer) throws(CacheError) -> Void
    ) throws(CacheError) {
        let footer = reader.footer
        var offset: Int64 = 0
        var pieces = try onItem(reader.pieces(of: 0..<footer.contentBytes))
        while let piece = try onItem(pieces.next()) {
            try watcher.checkCancellation()
            try body(piece)
            offset += Int64(piece.count)
            watcher.report?(
                OpenProgress(
                    key: footer.metadata.key, completedBytes: offset, totalBytes: footer.contentBytes))
        }
    }

    /// Gives the parts of a bundle that was staged as one file their own files, the last one first, and cuts each off that
    /// file: only one is there twice, and after a crash the chunks before it can be resumed.
    ///
    /// - Returns: The intent for the folder, which is durable.
    func unpack(_ file: Descriptor, as entry: LedgerEntry, in staging: Directory)
        throws(CacheError) -> LedgerEntry
    {
        var unpacked = entry
        unpacked.stagedName = files.nextStagedName(entry.key)
        try stage(&unpacked, in: staging) { entry, content throws(CacheError) in
            var start = entry.contentBytes
            for (number, part) in entry.parts.enumerated().reversed() {
                start -= part.contentBytes
                try admission.makeImportantRoom(part.contentBytes, in: staging)
                try destinations.onDestination(entry) { () throws(FileSystemError) in
                    try content.write(part: number, from: file, at: start)
                    try fileSystem.resize(file, to: start)
                }
            }
            try destinations.onDestination(entry) { () throws(FileSystemError) in
                try files.mark(content.descriptor, entry.backup, in: entry.area, entry.folder)
                try content.flush { file throws(FileSystemError) in try fileSystem.synchronize(file) }
                try fileSystem.synchronize(staging.descriptor)
            }
        }
        return unpacked
    }

    // MARK: Intents

    /// Enters an intent whose file is staged. On failure the file is removed: it may be large, and space may be what
    /// ran out.
    func enter(_ intent: LedgerEntry, replacing old: LedgerEntry?, stagedIn staging: Directory)
        throws(CacheError)
    {
        do throws(CacheError) {
            try admission.retryingAfterEviction(in: support.root) { () throws(CacheError) in
                _ = try ledger.put(intent, replacing: old)
            }
        } catch {
            try discardUnlessEntered(intent, stagedIn: staging)
            throw error
        }
    }

    /// Removes the staged file of an intent, unless the intent was entered despite an error.
    func discardUnlessEntered(_ intent: LedgerEntry, stagedIn staging: Directory) throws(CacheError) {
        if try ledger.entry(for: intent.key)?.stagedName != intent.stagedName {
            try files.discardStaged(FilePath(intent.stagedName), in: staging)
        }
    }

    /// Replaces a staged item that another process left behind by a copy that this process flushed.
    ///
    /// A flush of that item may have failed, which the kernel reports only once: a flush that succeeds now would prove
    /// nothing. Content that can be read and matches its checksum is written again.
    ///
    /// - Returns: The intent for the copy; `nil` when the item is damaged.
    func restage(_ intent: LedgerEntry, from folder: Directory, in staging: Directory)
        throws(CacheError) -> LedgerEntry?
    {
        let origin = FilePath(intent.stagedName)
        var checksum = ContentChecksum()
        try admission.makeRoomToOpen(intent.contentBytes, in: staging)
        var copy = intent
        copy.stagedName = files.nextStagedName(intent.key)
        var isWhole = true
        try stage(&copy, in: staging) { copy, content throws(CacheError) in
            try destinations.onDestination(intent) { () throws(FileSystemError) in
                isWhole = try files.forEachPiece(of: origin, in: folder, intent) {
                    piece throws(FileSystemError) in
                    checksum.update(piece)
                    try content.append(piece)
                }
                guard isWhole else { return }
                try files.mark(content.descriptor, intent.backup, in: intent.area, intent.folder)
                try content.flush { file throws(FileSystemError) in try fileSystem.synchronize(file) }
                try fileSystem.synchronize(staging.descriptor)
            }
        }
        guard isWhole, checksum.finalize() == intent.contentChecksum else {
            try files.discardStaged(FilePath(copy.stagedName), in: staging)
            return nil
        }
        try enter(copy, replacing: intent, stagedIn: staging)
        try files.discardStaged(origin, in: folder)
        return copy
    }

    // MARK: Taking the file of an item

    /// Renames the item's own file into staging. No name is durable yet.
    ///
    /// - Returns: `false` when the item was evicted or replaced in the meantime; nothing has changed then.
    func move(_ item: FileAttributes, as entry: LedgerEntry, into staging: Directory)
        throws(CacheError) -> Bool
    {
        let items = folders.current.items
        let hash = entry.key.hash
        return try copies.locks.hold(hash) { () throws(CacheError) in
            try copies.catalog.removing(hash) { place throws(CacheError) in
                guard try rename(item, as: entry, from: items, into: staging) else {
                    copies.catalog.noteUnclear(hash, at: place)
                    return false
                }
                copies.catalog.noteRemoved(hash, because: .opened, at: place)
                return true
            }
        }
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
        guard try files.attributes(of: name, in: staging)?.identity == item.identity else {
            // The item was replaced since it was opened: this is a different one, and is moved back.
            try onFiles(
                fileSystem.rename(name, in: staging.descriptor, to: origin, in: items.descriptor, .exclusive))
            return false
        }
        return true
    }

    /// Truncates the footer of a staged item whose name is durable, and makes the content durable as well.
    ///
    /// - Parameter storedBytes: The length of the item's file.
    /// - Returns: `false` when the system has emptied the file since its footer was read, which it may do even while it
    ///   is truncated: that extends it with zeros. It is removed then.
    func finishTaking(_ entry: LedgerEntry, storedBytes: Int64, in staging: Directory)
        throws(CacheError) -> Bool
    {
        let name = FilePath(entry.stagedName)
        let isWhole = try destinations.onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.withFile(name, in: staging.descriptor, .readWrite) {
                file throws(FileSystemError) in
                guard try fileSystem.attributes(of: file).length == storedBytes else { return false }
                try fileSystem.resize(file, to: entry.contentBytes)
                guard try hasContent(of: entry, file) else { return false }
                let permissions = try files.permissions(for: entry, in: staging)
                try fileSystem.setPermissions(permissions, of: file)
                try files.mark(file, entry.backup, in: entry.area, entry.folder)
                try fileSystem.synchronize(file)
                return true
            }
        }
        if !isWhole { try files.discardStaged(name, in: staging) }
        return isWhole
    }

    private func hasContent(of entry: LedgerEntry, _ file: Descriptor) throws(FileSystemError) -> Bool {
        guard try fileSystem.beginsWithHole(file) else { return true }
        return try fileSystem.contentChecksum(of: file, count: entry.contentBytes) == entry.contentChecksum
    }
}

extension Miss {
    /// Classifies an error of reading an item as a miss.
    ///
    /// - Throws: Errors that are not properties of the item, such as those of the file system.
    init(_ error: ItemFormatError) throws(CacheError) {
        switch error {
        case .purged: self = .purged
        case .damaged: self = .damaged(error)
        case .newerVersion(let version): self = .newerFormat(version: version)
        case .fileSystem(let error):
            guard error.isNotRegularFile else { throw .fileSystem(error) }
            self = .absent
        default: throw .item(error)
        }
    }
}

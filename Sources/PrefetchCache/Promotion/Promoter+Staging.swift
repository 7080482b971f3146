internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// Getting the content of an item into staging, complete and durable: decoded, or by moving its file.
extension Promoter {
    /// Verifies an identity item, unless it is large and was written since the machine was started, see
    /// ``ItemFormat/ItemFooter/recordsBoot(_:contentLength:)``.
    func damage(_ reader: ItemReader, for watcher: OpenWatcher) throws(CacheError) -> Miss? {
        let isIntact = reader.footer.boot.map { $0 == boot } ?? false
        guard !isIntact else { return nil }
        do {
            try stream(reader, for: watcher) { _, _ in }
            return nil
        } catch .item(let damage) {
            return try Miss(damage)
        }
    }

    /// Decodes the content into a new staging file, verifying every chunk.
    ///
    /// - Parameter finish: Makes the file durable while it is open. When it throws, the file is removed.
    func decode(
        _ reader: ItemReader, to entry: inout LedgerEntry, in staging: Directory, for watcher: OpenWatcher,
        _ finish: (LedgerEntry, Descriptor) throws(CacheError) -> Void
    ) throws(CacheError) {
        try stage(&entry, in: staging) { entry, file throws(CacheError) in
            try stream(reader, for: watcher) { piece, offset throws(CacheError) in
                try onDestination(entry) { () throws(FileSystemError) in
                    try fileSystem.writeAll(piece, to: file, at: offset)
                }
            }
            try onDestination(entry) { () throws(FileSystemError) in _ = try mark(file, entry.backup) }
            try finish(entry, file)
        }
    }

    /// Creates a staging file with what `body` writes to it, and records its identity in the intent.
    private func stage(
        _ entry: inout LedgerEntry, in staging: Directory,
        _ body: (LedgerEntry, Descriptor) throws(CacheError) -> Void
    ) throws(CacheError) {
        let name = FilePath(entry.stagedName)
        let file = try onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.open(name, in: staging.descriptor, .createNew(CacheLayout.filePermissions))
        }
        defer { fileSystem.close(file) }
        do {
            entry.inode = try attributes(of: file).identity.inode
            entry.birthTime = try birthTime(of: file)
            entry.origin = .written
            try body(entry, file)
        } catch {
            try discard(name, in: staging)
            throw error
        }
    }

    func flush(_ file: Descriptor, for entry: LedgerEntry) throws(CacheError) {
        try onDestination(entry) { () throws(FileSystemError) in try fileSystem.synchronize(file) }
    }

    /// Makes a staged file durable and enters its intent, both at the same time: neither means anything
    /// without the other, and until both are durable the cached copy is the item.
    func flush(_ file: Descriptor, entering entry: LedgerEntry) throws(CacheError) {
        let outcomes = both(
            { () throws(CacheError) in try ledger.put(entry, replacing: nil) },
            { () throws(CacheError) in try flush(file, for: entry) })
        do {
            for outcome in outcomes { try outcome.get() }
        } catch {
            // Even after an error of the ledger the intent may have been entered.
            if try ledger.entry(for: entry.key)?.stagedName == entry.stagedName {
                try ledger.remove(entry)
            }
            throw error
        }
    }

    /// Runs both in parallel, if there are two threads.
    private func both(
        _ one: () throws(CacheError) -> Void, _ other: () throws(CacheError) -> Void
    ) -> [Result<Void, CacheError>] {
        func run(_ index: Int) -> Result<Void, CacheError> {
            Result { () throws(CacheError) in try index == 0 ? one() : other() }
        }
        return environment.parallelism > 1 ? inParallel(2, run) : [run(0), run(1)]
    }

    /// Hands the verified content of an item to `body`, piece by piece, each with its offset.
    ///
    /// - Throws: ``CacheError/item(_:)`` for damage, ``CacheError/cancelled``, and whatever `body` throws.
    private func stream(
        _ reader: ItemReader, for watcher: OpenWatcher,
        _ body: (UnsafeRawBufferPointer, Int64) throws(CacheError) -> Void
    ) throws(CacheError) {
        let footer = reader.footer
        var offset: Int64 = 0
        var failure: CacheError?
        do throws(ItemFormatError) {
            try reader.stream(0..<footer.contentLength) { piece throws(ItemFormatError) in
                do throws(CacheError) {
                    try watcher.requireInterest()
                    try body(piece, offset)
                } catch {
                    failure = error
                    throw .notAdmitted
                }
                offset += Int64(piece.count)
                watcher.report?(
                    OpenProgress(
                        key: footer.metadata.key, completedBytes: offset, totalBytes: footer.contentLength))
            }
        } catch {
            throw failure ?? .item(error)
        }
    }

    /// Enters an intent whose file is staged. On failure the file is removed: it may be large, and the cause
    /// may be a lack of space.
    func enter(_ intent: LedgerEntry, replacing old: LedgerEntry?, stagedIn staging: Directory)
        throws(CacheError)
    {
        do throws(CacheError) {
            try admission.makingWay(in: support.root) { () throws(CacheError) in
                try ledger.put(intent, replacing: old)
            }
        } catch {
            try discardUnlessEntered(intent, stagedIn: staging)
            throw error
        }
    }

    /// Removes the staged file of an intent, unless the intent was entered despite an error.
    func discardUnlessEntered(_ intent: LedgerEntry, stagedIn staging: Directory) throws(CacheError) {
        if try ledger.entry(for: intent.key)?.stagedName != intent.stagedName {
            try discard(FilePath(intent.stagedName), in: staging)
        }
    }

    /// Replaces a staged item that another process left behind by a copy, made durable here.
    ///
    /// A flush of that item may have failed, which the kernel reports only once: a flush that succeeds now
    /// would mean nothing. Content that can be read and matches its checksum is right, and is written again.
    ///
    /// - Returns: The intent for the copy; `nil` when the item is damaged.
    func restage(_ intent: LedgerEntry, from folder: Directory, in staging: Directory)
        throws(CacheError) -> LedgerEntry?
    {
        let origin = FilePath(intent.stagedName)
        var checksum = ContentChecksum()
        try admission.makeRoomToOpen(intent.contentLength, in: staging)
        var copy = intent
        copy.stagedName = nextStagedName(intent.key)
        try stage(&copy, in: staging) { copy, file throws(CacheError) in
            try onDestination(intent) { () throws(FileSystemError) in
                try fileSystem.withFile(origin, in: folder.descriptor, .read) {
                    source throws(FileSystemError) in
                    try fileSystem.forEachPiece(of: source, count: intent.contentLength) {
                        piece, offset throws(FileSystemError) in
                        checksum.update(piece)
                        try fileSystem.writeAll(piece, to: file, at: offset)
                    }
                }
                try mark(file, intent.backup)
                try fileSystem.synchronize(file)
                try fileSystem.synchronize(staging.descriptor)
            }
        }
        guard checksum.finalize() == intent.contentChecksum else {
            try discard(FilePath(copy.stagedName), in: staging)
            return nil
        }
        try enter(copy, replacing: intent, stagedIn: staging)
        try discard(origin, in: folder)
        return copy
    }

    /// Moves the item's own file into staging and cuts its footer off.
    ///
    /// - Returns: `false` when the item was evicted, replaced or emptied in the meantime; nothing is staged then.
    func take(_ item: FileAttributes, as entry: LedgerEntry, into staging: Directory)
        throws(CacheError) -> Bool
    {
        guard try move(item, as: entry, into: staging) else { return false }
        // If the truncation survived a power cut and the new name did not, the item would be left without its
        // footer.
        try onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.synchronize(staging.descriptor)
        }
        return try finishTaking(entry, of: item, in: staging)
    }

    /// Renames the item's own file into staging. No name is durable yet.
    ///
    /// - Returns: `false` when the item was evicted or replaced in the meantime; nothing has changed then.
    func move(_ item: FileAttributes, as entry: LedgerEntry, into staging: Directory)
        throws(CacheError) -> Bool
    {
        let items = folders.current.items
        return try itemLocks.hold(entry.key.hash) { () throws(CacheError) in
            try rename(item, as: entry, from: items, into: staging)
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
        guard try attributes(of: name, in: staging)?.identity == item.identity else {
            // The item was replaced since it was opened: this is another one, and is moved back.
            try onFiles { () throws(FileSystemError) in
                try fileSystem.rename(
                    name, in: staging.descriptor, to: origin, in: items.descriptor, .exclusive)
            }
            return false
        }
        catalog.noteRemoved(entry.key.hash)
        return true
    }

    /// Cuts the footer off a staged item whose name is durable, and makes the content durable as well.
    ///
    /// - Returns: `false` when the system has emptied the file since the item was opened: cutting it would make it a
    ///   file of zeros. It is removed then.
    func finishTaking(_ entry: LedgerEntry, of item: FileAttributes, in staging: Directory)
        throws(CacheError) -> Bool
    {
        let name = FilePath(entry.stagedName)
        let isWhole = try onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.withFile(name, in: staging.descriptor, .readWrite) {
                file throws(FileSystemError) in
                guard try fileSystem.attributes(of: file).length == item.length else { return false }
                try fileSystem.resize(file, to: entry.contentLength)
                try mark(file, entry.backup)
                try fileSystem.synchronize(file)
                return true
            }
        }
        if !isWhole { try discard(name, in: staging) }
        return isWhole
    }
}

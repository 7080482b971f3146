internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import Synchronization
internal import SystemPackage

/// Hands an item over to the user at its first open, complete, durable, and exactly once.
///
/// Safety follows from the order: the content is complete in staging before the intent is entered; both are
/// durable before the file appears under its name; the name is durable before the promotion is committed; and
/// only then is the cached copy removed. A crash between any two steps leaves what ``Recovery`` needs.
final class Promoter: Sendable {
    let environment: CacheEnvironment
    let folders: CacheFolders
    let support: SupportFolders
    let ledger: any PromotionLedger
    let catalog: Catalog
    let itemLocks: ItemLocks
    let codecs: CodecPool
    let admission: Admission
    let coordinator: (any FileCoordinating)?
    let locks: KeyLock
    /// As footers record it.
    let boot: UInt64?
    private let lastNumber = Atomic<UInt64>(0)

    init(
        environment: CacheEnvironment, folders: CacheFolders, support: SupportFolders,
        ledger: any PromotionLedger, catalog: Catalog, itemLocks: ItemLocks, codecs: CodecPool,
        admission: Admission, coordinator: (any FileCoordinating)?
    ) {
        self.environment = environment
        self.folders = folders
        self.support = support
        self.ledger = ledger
        self.catalog = catalog
        self.itemLocks = itemLocks
        self.codecs = codecs
        self.admission = admission
        self.coordinator = coordinator
        locks = KeyLock(staging: support.staging, Patience(uptime: environment.uptime))
        boot = Checksum.ofBoot(environment.bootIdentifier)
    }

    var fileSystem: any FileSystem { environment.fileSystem }

    /// Returns the file of a promoted item, handing the item over first if necessary.
    ///
    /// - Parameter watcher: May cancel until the intent is entered; after that it is too late.
    /// - Throws: ``CacheError/movedOrDeleted(key:_:)`` when the user took the file away and there is no
    ///   cached copy; ``CacheError/destination(_:_:)`` when the file cannot be written to its destination;
    ///   ``CacheError/destinationUnavailable(_:)``; ``CacheError/insufficientSpace(needed:available:)``;
    ///   ``CacheError/cancelled``.
    func open(_ key: ItemKey, for watcher: OpenWatcher = .patient) throws(CacheError) -> Lookup<OpenedItem> {
        // Whether an item was handed over can be seen without a lock, but not with certainty. One with a
        // cached copy most probably was not.
        if try !hasCachedCopy(key), let entry = try ledger.entry(for: key), entry.state == .committed,
            let opened = try existingFile(of: entry)
        {
            noteUse(of: entry)
            return .hit(opened)
        }
        do {
            return try openUnderLock(key, watcher)
        } catch .overtaken {
            return try openUnderLock(key, watcher)
        }
    }

    private func openUnderLock(_ key: ItemKey, _ watcher: OpenWatcher)
        throws(CacheError) -> Lookup<OpenedItem>
    {
        try locks.hold(key.hash) { () throws(CacheError) in
            guard let entry = try settledEntry(of: key) else { return try promote(key, for: watcher) }
            let opened = try recoveredFile(of: entry)
            // A leftover, whether its user has kept the file or not: a store of a key whose file is gone drops the
            // entry.
            dropCachedCopy(key)
            guard let opened else { throw .movedOrDeleted(key: key, path(of: entry)) }
            noteUse(of: entry)
            return .hit(opened)
        }
    }

    /// The entry of a key after its promotion was completed or undone, if a crash interrupted it. The caller holds
    /// the lock of the key.
    private func settledEntry(of key: ItemKey) throws(CacheError) -> LedgerEntry? {
        let entry = try ledger.entry(for: key)
        guard let entry, entry.state == .intent else { return entry }
        try Recovery(self).complete(entry)
        return try ledger.entry(for: key)
    }

    /// Drops the record of a promotion. The file that the item became is the user's and stays.
    ///
    /// A promotion that a crash interrupted is settled first: a file that is about to get its name must not
    /// be forgotten half-way. One whose name the destination refuses will never be complete, and ends here.
    ///
    /// - Parameter takeBack: Receives the content of an item that is no longer in the cache and will not be handed
    ///   over.
    /// - Returns: Whether there was a record.
    func forget(_ key: ItemKey, takingBack takeBack: (LedgerEntry, Descriptor) throws(CacheError) -> Void)
        throws(CacheError) -> Bool
    {
        // Without a ledger there is nothing to forget, and no lock file to leave behind.
        guard try ledger.entry(for: key) != nil else { return false }
        return try locks.hold(key.hash) { () throws(CacheError) in
            do throws(CacheError) {
                guard let entry = try settledEntry(of: key) else { return false }
                _ = try recoveredFile(of: entry)
                try ledger.remove(entry)
            } catch .destination(_, let error) where error.isRefusedName {
                guard let intent = try ledger.entry(for: key) else { return false }
                try Recovery(self).abandon(intent, takingBack: takeBack)
            }
            return true
        }
    }

    /// Runs `body`, which publishes a newer item of a key, and then drops the record of its promotion: until the item
    /// is there, the record is true.
    ///
    /// - Parameter lost: The only entry that may be dropped, and only while its file is gone; `nil` for any.
    /// - Returns: Whether `body` was run.
    func replacePromotion(of key: ItemKey, lost: LedgerEntry?, _ body: () throws(CacheError) -> Void)
        throws(CacheError) -> Bool
    {
        try locks.hold(key.hash) { () throws(CacheError) in
            let entry = try settledEntry(of: key)
            if let lost, let entry {
                guard entry == lost, try recoveredFile(of: entry) == nil else { return false }
            }
            try body()
            do throws(CacheError) {
                if let entry { try ledger.remove(entry) }
            } catch {
                // Beside the record it would be a leftover.
                dropCachedCopy(key)
                throw error
            }
            return true
        }
    }

    /// Publishes a completely written staged file, unless its key was handed over meanwhile.
    ///
    /// The destination folder is opened again: while the item was written it may have been moved or removed.
    ///
    /// - Parameter isAnew: Whether the file takes the place of one that was handed over before, in the ledger.
    func deliver(_ entry: LedgerEntry, from staging: Directory, isAnew: Bool) throws(CacheError) -> OpenedItem
    {
        try locks.hold(entry.key.hash) { () throws(CacheError) in
            let earlier = try settledEntry(of: entry.key)
            if !isAnew, let earlier, let opened = try existingFile(of: earlier) {
                try discard(FilePath(entry.stagedName), in: staging)
                return opened
            }
            try enter(entry, replacing: earlier, stagedIn: staging)
            var entry = entry
            let folder = try destination(of: &entry)
            return opened(try publish(entry, from: staging, in: folder), isFirstOpen: true)
        }
    }

    /// The file of a committed promotion, or `nil` when it is no longer there.
    func existingFile(of entry: LedgerEntry) throws(CacheError) -> OpenedItem? {
        let isInPlace = try coordinated(.readMetadata, entry) { () throws(CacheError) in
            guard let folder = try existingFolder(of: entry) else { return false }
            return try attributes(of: entry, in: folder)?.kind == .regular
        }
        return isInPlace ? opened(entry, isFirstOpen: false) : nil
    }

    /// As ``existingFile(of:)``, after a file that a purge had moved aside when its process died was moved back: with
    /// its entry it would lose its name. The caller holds the lock of the key.
    private func recoveredFile(of entry: LedgerEntry) throws(CacheError) -> OpenedItem? {
        if let opened = try existingFile(of: entry) { return opened }
        return try Recovery(self).putBack(entry.key.hash) ? existingFile(of: entry) : nil
    }

    /// How often an item that was replaced while it was being promoted is looked up again.
    private static let attempts = 3

    private func promote(_ key: ItemKey, for watcher: OpenWatcher) throws(CacheError) -> Lookup<OpenedItem> {
        for _ in 0..<Self.attempts {
            try watcher.requireInterest()
            guard let file = try folders.openItem(key.hash) else { break }
            defer { fileSystem.close(file) }
            switch try reader(of: file, for: key) {
            case .miss(let miss): return .miss(miss)
            case .hit(let reader):
                let result = try promote(key, file, reader, for: watcher)
                if let result { return result }
            }
        }
        return .miss(.absent)
    }

    /// - Returns: `nil` when the item was evicted or replaced in the meantime; nothing has changed then.
    private func promote(
        _ key: ItemKey, _ file: Descriptor, _ reader: ItemReader, for watcher: OpenWatcher
    ) throws(CacheError) -> Lookup<OpenedItem>? {
        // The ledger, and folders that are created now, need room whatever the encoding.
        try admission.makeRoomToOpen(0, in: support.staging)
        let place = try place(for: reader.footer.metadata.destination, holding: [key.hash])
        var (entry, item) = try intent(reader.footer, of: file, to: place)
        switch entry.mode {
        case .decode:
            try admission.makeRoomToOpen(entry.contentLength, in: place.staging)
            do {
                try decode(reader, to: &entry, in: place.staging, for: watcher) {
                    entry, file throws(CacheError) in
                    try flush(file, entering: entry)
                }
            } catch .item(let damage) {
                return .miss(try Miss(damage))
            }
        case .rename:
            try requireWritable(place, for: entry)
            if let damage = try damage(reader, for: watcher) { return .miss(damage) }
            try ledger.put(entry, replacing: nil)
            guard try take(item, as: entry, into: place.staging) else {
                try ledger.remove(entry)
                return nil
            }
        }
        let committed = try publish(entry, from: place.staging, in: place.folder)
        return .hit(opened(committed, isFirstOpen: true))
    }

    func nextAsideName(_ key: ItemKey) -> FilePath {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        return CacheLayout.aside(key.hash, session: environment.session, number: number)
    }

    func nextAsideName(_ name: FileName) -> FilePath {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        return CacheLayout.aside(name, session: environment.session, number: number)
    }

    func nextStagedName(_ key: ItemKey) -> String {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        return CacheLayout.staged(key.hash, session: environment.session, number: number).string
    }
}

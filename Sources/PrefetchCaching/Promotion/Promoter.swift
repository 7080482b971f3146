internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// Promotes an item at its first open: complete, durable, and exactly once.
///
/// Crash safety follows from the order: the content is complete in staging before the intent is entered; both are
/// durable before the file appears under its name; the name is durable before the promotion is committed; and only then
/// is the cached copy removed. A crash between any two steps leaves what ``Recovery`` needs.
final class Promoter: Sendable {
    let files: PromotedFiles
    let locks: KeyLock
    private let ledger: any PromotionLedger
    let copies: CachedCopies
    let stager: Stager
    let publisher: Publisher
    let recovery: Recovery
    private let replacement: Replacement

    init(
        environment: CacheEnvironment, folders: CacheFolders, files: PromotedFiles, copies: CachedCopies,
        ledger: any PromotionLedger, codecs: CodecPool, admission: Admission, _ patience: Patience
    ) {
        self.files = files
        self.copies = copies
        self.ledger = ledger
        locks = KeyLock(staging: files.destinations.support.staging, patience)
        let leftovers = Leftovers(files: files, ledger: ledger, locks: locks)
        stager = Stager(
            environment: environment, folders: folders, files: files, copies: copies, ledger: ledger,
            admission: admission, codecs: codecs, leftovers: leftovers)
        publisher = Publisher(
            files: files, copies: copies, ledger: ledger, locks: locks, admission: admission)
        replacement = Replacement(files: files, ledger: ledger)
        recovery = Recovery(
            leftovers: leftovers, stager: stager, publisher: publisher, replacement: replacement)
    }

    /// Returns the file of a promoted item, promoting the item first if necessary.
    ///
    /// A promotion that is being replaced is waited for, or completed if a crash interrupted it: until then, the name of
    /// neither version is certain to be durable.
    ///
    /// - Parameter watcher: May cancel until the intent is entered; after that it is too late.
    /// - Throws: ``CacheError/movedOrDeleted(key:_:)`` when the user moved or deleted the file and there is no cached
    ///   copy; ``CacheError/destination(_:_:)`` when the file cannot be written to its destination;
    ///   ``CacheError/destinationUnavailable(_:)``; ``CacheError/insufficientSpace(needed:available:)``;
    ///   ``CacheError/cancelled``.
    func open(_ key: ItemKey, for watcher: OpenWatcher = .never) throws(CacheError) -> Lookup<PromotedFile> {
        // A check without the lock finds most promoted items. One with a cached copy most probably was not promoted, and
        // the name of one that is being replaced may not be durable.
        if try !copies.isThere(key), let entry = try ledger.entry(for: key), !entry.isUnfinished,
            let opened = try files.existingFile(of: entry)
        {
            files.noteUse(of: entry)
            // A purge that does not see this use has moved the file aside by now, and holds the lock.
            if entry.backup == .include { return .hit(opened) }
            if try files.existingFile(of: entry) != nil { return .hit(opened) }
        }
        do {
            return try openUnderLock(key, watcher)
        } catch .overtaken {
            return try openUnderLock(key, watcher)
        } catch .destination(_, let error) where error.isNotFound {
            // The folder was removed when it was empty. It is made anew.
            return try openUnderLock(key, watcher)
        }
    }

    private func openUnderLock(_ key: ItemKey, _ watcher: OpenWatcher)
        throws(CacheError) -> Lookup<PromotedFile>
    {
        try locks.hold(key.hash) { () throws(CacheError) in
            guard let entry = try resolvedEntry(of: key) else { return try promote(key, for: watcher) }
            let opened = try recoveredFile(of: entry)
            // A leftover, whether the file is there or not: storing a key whose file is gone drops the entry.
            try copies.drop([key])
            guard let opened else { throw .movedOrDeleted(key: key, files.destinations.path(of: entry)) }
            files.noteUse(of: entry)
            return .hit(opened)
        }
    }

    /// The entry of a key after its promotion was completed or undone, if a crash interrupted it. The caller holds
    /// the lock of the key.
    private func resolvedEntry(of key: ItemKey) throws(CacheError) -> LedgerEntry? {
        let entry = try ledger.entry(for: key)
        guard let entry, entry.isUnfinished else { return entry }
        try recovery.complete(entry)
        return try ledger.entry(for: key)
    }

    /// Drops the record of a promotion. The file that the item became is the user's and stays.
    ///
    /// A promotion that a crash interrupted is resolved first: a file that is about to get its name must not be
    /// forgotten. One that cannot complete because the destination rejects every name is abandoned.
    ///
    /// - Parameter restoreToCache: Receives the content of an item that is no longer in the cache and will not be promoted.
    /// - Returns: Whether there was a record.
    func forget(_ key: ItemKey, restoringToCache restoreToCache: RestoreToCache) throws(CacheError) -> Bool {
        // Without an entry there is nothing to forget, and no need to create a lock file.
        guard try ledger.entry(for: key) != nil else { return false }
        return try locks.hold(key.hash) { () throws(CacheError) in
            do throws(CacheError) {
                guard let entry = try resolvedEntry(of: key) else { return false }
                _ = try recoveredFile(of: entry)
                try ledger.remove(entry)
            } catch .destination(_, let error) where error.isRefusedName {
                guard let intent = try ledger.entry(for: key) else { return false }
                try recovery.abandon(intent, restoringToCache: restoreToCache)
            }
            return true
        }
    }

    /// Removes the file of a promotion, even if the user has changed it, and then the record. A file shared with
    /// another key stays.
    ///
    /// - Returns: Whether there was a record, and whether a file was removed.
    func deleteFile(of key: ItemKey) throws(CacheError) -> (wasKnown: Bool, isDeleted: Bool) {
        guard try ledger.entry(for: key) != nil else { return (false, false) }
        return try locks.hold(key.hash) { () throws(CacheError) in
            guard let entry = try resolvedEntry(of: key) else { return (false, false) }
            // Otherwise a file that a purge moved aside would come back.
            _ = try recoveredFile(of: entry)
            let isDeleted = try delete(entry)
            if isDeleted { tidy(after: entry) }
            return (true, isDeleted)
        }
    }

    /// Removes the file and the record of a promotion. The caller holds the lock of the key.
    ///
    /// - Returns: Whether the file was there and was removed.
    private func delete(_ entry: LedgerEntry) throws(CacheError) -> Bool {
        while true {
            let found = try files.existingAttributes(of: entry)?.identity
            let sharer = try found.flatMap { file throws(CacheError) in
                try self.sharer(of: file, with: entry)
            }
            var isDeleted = false
            if let found, sharer == nil { isDeleted = try files.delete(entry, found) }
            if !isDeleted { try flushRemovals() }
            try copies.drop([entry.key])
            let removal = LedgerChange(old: entry, new: nil)
            guard let sharer else {
                try ledger.make([removal])
                return isDeleted
            }
            do throws(CacheError) {
                // Otherwise each of two keys may leave the file to the other.
                try ledger.make([.requiring(sharer), removal])
                return false
            } catch .overtaken(let key) where key == sharer.key {
                continue
            }
        }
    }

    /// Removes the folders that the removal of a file has left empty. A failure is only logged: the file is gone.
    func tidy(after entry: LedgerEntry) {
        do {
            try files.destinations.support.removeEmptyFolders(entry.folder, in: entry.area)
        } catch {
            files.environment.logger.warning(
                "An empty folder could not be removed.", metadata: ["error": "\(error)"])
        }
    }

    /// Makes durable what an earlier removal has done, whose flush failed: without an entry, what is back under its name aside
    /// could not be given its own.
    private func flushRemovals() throws(CacheError) {
        for staging in try onFiles(files.destinations.support.stagingFolders()) {
            try onFiles(staging.fileSystem.synchronize(staging.descriptor))
        }
    }

    /// The promotion of another key to the same file: an identical one is adopted rather than stored twice. One that is under
    /// way counts if its content is nowhere else: its process has died between adopting the file and saying so. While the
    /// caller holds the lock of the entry's key, nobody adopts its file.
    func sharer(of file: FileAttributes.Identity, with entry: LedgerEntry) throws(CacheError) -> LedgerEntry?
    {
        for other in try publisher.sharers(of: file, among: ledger.others(sharing: entry)) {
            if other.state == .committed { return other }
            // In the order in which it moves.
            if try copies.isThere(other.key) { continue }
            let staging = files.destinations.support.staging
            if try files.staged(FilePath(other.stagedName), in: staging) == nil { return other }
        }
        return nil
    }

    /// Whether a key was promoted, as soon as no living process is at work on that.
    func isPromoted(_ key: ItemKey) throws(CacheError) -> Bool {
        guard let entry = try ledger.entry(for: key) else { return false }
        guard entry.isUnfinished else { return true }
        return try locks.hold(key.hash) { () throws(CacheError) in
            try ledger.entry(for: key)?.state == .committed
        }
    }

    /// The entry of a key as soon as no process is promoting it.
    func settledEntry(of key: ItemKey) throws(CacheError) -> LedgerEntry? {
        let entry = try ledger.entry(for: key)
        guard let entry, entry.isUnfinished else { return entry }
        return try locks.hold(key.hash) { () throws(CacheError) in try resolvedEntry(of: key) }
    }

    /// Removes the cached copy of an item that was promoted: a store or an open that died has left it.
    ///
    /// - Returns: `false` if someone else is at the item.
    func dropPromoted(_ hash: KeyHash) throws(CacheError) -> Bool {
        guard try ledger.entry(for: hash)?.state == .committed else { return true }
        return try locks.holdIfFree(hash) { () throws(CacheError) in
            guard try ledger.entry(for: hash)?.state == .committed else { return }
            _ = try copies.remove(hash, nil, because: .opened)
        }
    }

    /// The entry of a key, after a dead process's promotion was completed or undone.
    func settledEntryWithoutWaiting(after intent: LedgerEntry) throws(CacheError) -> LedgerEntry? {
        if try ledger.entry(for: intent.key) == intent {
            try locks.holdIfFree(intent.key.hash) { () throws(CacheError) in
                _ = try resolvedEntry(of: intent.key)
            }
        }
        return try ledger.entry(for: intent.key)
    }

    /// Runs `body`, which publishes a newer item of a key, and then drops the record of its promotion, which holds
    /// until then.
    ///
    /// - Parameter replaced: What may be dropped; a lost promotion only while its file is gone.
    /// - Returns: Whether `body` was run.
    func replacePromotion(
        of key: ItemKey, _ replaced: ReplacedPromotion, _ body: () throws(CacheError) -> Void
    ) throws(CacheError) -> Bool {
        try locks.hold(key.hash) { () throws(CacheError) in
            let entry = try resolvedEntry(of: key)
            switch replaced {
            case .lost(let lost):
                if let entry {
                    guard entry == lost, try recoveredFile(of: entry) == nil else { return false }
                }
            case .absent, .any, .present, .abandoned: break
            }
            try body()
            guard let entry else { return true }
            do throws(CacheError) {
                try ledger.remove(entry)
            } catch {
                // While the record exists, the item would be a leftover.
                try copies.drop([key])
                throw error
            }
            return true
        }
    }

    /// Publishes a completely written staged file, unless its key was promoted meanwhile.
    ///
    /// The destination folder is opened again: while the item was written it may have been moved or removed.
    ///
    /// - Parameters:
    ///   - whenPromoted: What to do about an earlier promotion of the key whose file is there.
    ///   - file: The open file of a bundle; `nil` for an item that is one file.
    /// - Returns: `nil` when the content is not in the file of the key: another version was promoted meanwhile, or the file
    ///   that was to be replaced is not what was promoted, and stays.
    func deliver(
        _ entry: LedgerEntry, from staging: Directory, whenPromoted: WhenPromoted, unpacking file: Descriptor?
    ) throws(CacheError) -> PromotedFile? {
        try locks.hold(entry.key.hash) { () throws(CacheError) in
            let earlier = try resolvedEntry(of: entry.key)
            let present = try whenPromoted == .storeAgain ? nil : earlier.flatMap(files.existingFile)
            if let earlier, let present, whenPromoted == .leave {
                try files.discardStaged(FilePath(entry.stagedName), in: staging)
                return entry.hasContent(of: earlier) ? present : nil
            }
            if whenPromoted == .replaceIfUnmodified, present == nil {
                try files.discardStaged(FilePath(entry.stagedName), in: staging)
                return nil
            }
            var entry = entry
            if let file { entry = try stager.unpack(file, as: entry, in: staging) }
            if let earlier, present != nil {
                let replaced = try replacement.replace(earlier, by: entry, in: staging) {
                    file throws(CacheError) in
                    try sharer(of: file, with: earlier) != nil
                }
                if replaced == nil { try files.discardStaged(FilePath(entry.stagedName), in: staging) }
                return replaced.map(files.destinations.firstOpened)
            }
            try stager.enter(entry, replacing: earlier, stagedIn: staging)
            let folder = try stager.destination(of: &entry)
            let committed = try publisher.publish(entry, from: staging, in: folder)
            return files.destinations.firstOpened(committed)
        }
    }

    /// As ``existingFile(of:)``, after moving back a file that a dead process's purge had moved aside: without its
    /// entry its name would be unknown. The caller holds the lock of the key.
    private func recoveredFile(of entry: LedgerEntry) throws(CacheError) -> PromotedFile? {
        if let opened = try files.existingFile(of: entry) { return opened }
        return try recovery.leftovers.putBack(entry.key.hash) ? files.existingFile(of: entry) : nil
    }

    /// How often an item that was replaced while it was being promoted is looked up again.
    private static let attempts = 3

    private func promote(_ key: ItemKey, for watcher: OpenWatcher) throws(CacheError) -> Lookup<PromotedFile>
    {
        for _ in 0..<Self.attempts {
            try watcher.checkCancellation()
            switch Promotion(of: [key], sharing: .none, stager, publisher, for: watcher).run()[0] {
            case .ended(let result): return try result.get()
            case .again(leasing: nil): return .miss(.absent)
            case .again(leasing: let file?): stager.fileSystem.close(file)
            }
        }
        return .miss(.absent)
    }

    /// Opens several keys with one set of flushes, as far as they are first opens.
    ///
    /// - Parameter keys: At most ``Promotion/most``.
    /// - Returns: The outcome for each key, in the order of the keys.
    func openTogether(_ keys: [ItemKey], for watcher: OpenWatcher) -> [Promotion.Outcome] {
        guard keys.count > 1 else { return keys.map { _ in .again(leasing: nil) } }
        do {
            return try locks.hold(keys.map(\.hash)) {
                Promotion(of: keys, sharing: .withinCall, stager, publisher, for: watcher).run()
            }
        } catch {
            // The error may concern only one key's lock; opening that key alone will report it.
            return keys.map { .again(leasing: stager.lease($0)) }
        }
    }

    /// As ``openTogether(_:for:)``, and also for a single key; what is locked has to be opened alone.
    func openWithoutWaiting(_ keys: [ItemKey], for watcher: OpenWatcher) -> [Promotion.Outcome] {
        do {
            return try locks.holdFree(keys.map(\.hash)) { isHeld in
                let free = keys.filter { isHeld($0.hash) }
                var outcomes = Promotion(of: free, sharing: .betweenTasks, stager, publisher, for: watcher)
                    .run()[...]
                return keys.map { key in
                    isHeld(key.hash) ? outcomes.removeFirst() : .again(leasing: nil)
                }
            }
        } catch {
            return keys.map { _ in .again(leasing: nil) }
        }
    }
}

internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// Stores the content of a promotion that will not be completed, which `read` fills a buffer with, from an offset on.
typealias RestoreToCache = (
    LedgerEntry, _ read: (UnsafeMutableRawBufferPointer, Int64) throws(CacheError) -> Int
) throws(CacheError) -> Void

/// Completes or undoes promotions that a crash interrupted.
///
/// | found | done |
/// |---|---|
/// | file moved aside | moved back: it is the user's |
/// | staged file without an entry | deleted, unless it is still being written: it never reached its intent |
/// | intent, staged file, no destination | verified, written again, then published; if damaged, or if a newer item is cached, dropped |
/// | intent, staged file, destination | one inode: committed; else published under the next name |
/// | intent, no staged file, destination is ours | committed, even when the user has changed it |
/// | intent, no staged file, destination has its content | adopted |
/// | intent, no staged file, otherwise | dropped: the cached copy, if there is one, is promotable |
/// | a successor | see ``Replacement/complete(_:)`` |
///
/// Every row is idempotent, so that a crash during recovery is recovered from as well.
struct Recovery: Sendable {
    let leftovers: Leftovers
    let stager: Stager
    let publisher: Publisher
    let replacement: Replacement

    private var files: PromotedFiles { stager.files }
    private var destinations: Destinations { files.destinations }
    private var ledger: any PromotionLedger { stager.ledger }
    private var fileSystem: any FileSystem { files.environment.fileSystem }

    /// Resolves everything that no living process is working on.
    ///
    /// What cannot be resolved now stays as it is, rather than making the whole cache unusable: the next open of its
    /// key tries again, and reports the error.
    ///
    /// - Parameter isThorough: Whether to resolve intents even if nothing is staged. Otherwise, with nothing to do, it
    ///   costs one listing per staging folder: an intent without a staged file waits for the next open of its key.
    func run(_ log: RepairLog, isThorough: Bool) {
        var folders = [destinations.support.staging]
        log.attempt(.staging) { () throws(CacheError) in
            folders = try onFiles(destinations.support.stagingFolders())
        }
        var staged: [Leftovers.Staged] = []
        for folder in folders {
            log.attempt(leftovers.location(of: folder)) { () throws(CacheError) in
                staged += try onFiles(leftovers.stagedFiles(in: folder))
            }
        }
        guard isThorough || !staged.isEmpty else { return }
        var intents: [LedgerEntry] = []
        log.attempt(.staging) { () throws(CacheError) in intents = try ledger.unfinished() }
        for intent in intents {
            log.attempt(intent.location) { () throws(CacheError) in
                // A held lock means that a living process is working on it.
                try leftovers.locks.holdIfFree(intent.key.hash) { () throws(CacheError) in
                    try resolve(intent.key, log)
                }
            }
        }
        for file in staged {
            log.attempt(file.location) { () throws(CacheError) in
                try leftovers.locks.holdIfFree(file.hash) { () throws(CacheError) in
                    try leftovers.resolve(file, log)
                }
            }
        }
    }

    private func resolve(_ key: ItemKey, _ log: RepairLog) throws(CacheError) {
        guard let intent = try ledger.entry(for: key), intent.isUnfinished else { return }
        let place = intent.location
        guard !log.isDryRun else { return log.note(.promotionResolved, place, key: key) }
        if let committed = try complete(intent) {
            log.note(.promotionResolved, committed.location, key: key, "completed")
        } else {
            log.note(.promotionResolved, place, key: key, "taken back")
        }
    }

    /// Resolves one intent. The caller holds the lock of its key.
    ///
    /// - Returns: The promotion, or `nil` if it was undone.
    @discardableResult
    func complete(_ intent: LedgerEntry) throws(CacheError) -> LedgerEntry? {
        if intent.successor != nil { return try replacement.complete(intent) }
        var intent = intent
        let folder = try stager.destination(of: &intent)
        let staging = try destinations.stagingFolder(for: folder, intent.area, intent.folder)
        let (origin, staged) = try stagedFile(of: intent, in: staging)
        let destination = try destinations.coordinated(.readMetadata, intent) { () throws(CacheError) in
            try files.attributes(of: intent, in: folder)
        }

        switch (staged, destination) {
        case (let staged?, let destination?) where staged.identity == destination.identity:
            // Not a folder, which has one name on every disk.
            try files.discardStaged(FilePath(intent.stagedName), in: origin)
            return try publisher.commit(intent, replacing: intent, from: staging, in: folder)
        case (_?, _):
            guard try !stager.hasNewerItem(than: intent),
                let trusted = try stager.restage(intent, from: origin, in: staging)
            else {
                try files.discardStaged(FilePath(intent.stagedName), in: origin)
                break
            }
            return try publisher.publish(trusted, from: staging, in: folder)
        case (nil, let destination?):
            let entered = intent
            let isOurs = try destinations.coordinated(.readContent, intent) { () throws(CacheError) in
                try wasStaged(destination, by: entered, in: folder)
            }
            if isOurs { return try publisher.commit(intent, replacing: intent, from: staging, in: folder) }
            // Adopted, or about to be: it may never have been flushed.
            switch try publisher.adopt(intent, from: staging, in: folder, passingOverUnreadable: false, {}) {
            case .isAdopted(let adopted): return adopted
            // The intent is what keeps the file: the next open tries again.
            case .isHeld, .isChanged: throw .busy("item", by: nil)
            case .isAnother(let failure?): throw failure
            case .isAnother(nil): break
            }
        case (nil, nil): break
        }
        try ledger.remove(intent)
        return nil
    }

    /// Abandons a promotion that cannot be completed, and drops its entry. The caller holds the lock of the key.
    ///
    /// - Parameter restoreToCache: Receives the content that is not in the cache, while the entry is still there: a crash
    ///   in between must not lose it.
    func abandon(_ intent: LedgerEntry, restoringToCache restoreToCache: RestoreToCache)
        throws(CacheError)
    {
        var intent = intent
        let name = FilePath(intent.stagedName)
        let folder = try stager.destination(of: &intent)
        let staging = try destinations.stagingFolder(for: folder, intent.area, intent.folder)
        let (origin, staged) = try stagedFile(of: intent, in: staging)
        guard staged != nil else { return try ledger.remove(intent) }
        let file = try onFiles(fileSystem.open(name, in: origin.descriptor, intent.openMode))
        defer { fileSystem.close(file) }
        if try !stager.copies.isThere(intent.key) {
            try restoreToCache(intent) { buffer, offset throws(CacheError) in
                try onFiles { () throws(FileSystemError) in
                    guard !intent.parts.isEmpty else {
                        return try fileSystem.readAll(file, into: buffer, at: offset)
                    }
                    let range = offset..<offset + Int64(buffer.count)
                    let bundle = BundleFolder(file, intent.parts, fileSystem)
                    return try bundle.read(range, into: buffer) ? buffer.count : 0
                }
            }
        }
        try ledger.remove(intent)
        try files.discardStaged(name, in: origin)
    }

    /// Whether the file under an intent's name is the one that was staged, even if the user has changed it
    /// since. The ledger may come from a backup, and the file be unrelated.
    private func wasStaged(_ file: FileAttributes, by intent: LedgerEntry, in folder: Directory)
        throws(CacheError) -> Bool
    {
        guard intent.birthTime != nil, file.kind == intent.kind, file.identity.inode == intent.inode else {
            return false
        }
        do {
            return try fileSystem.withFile(intent.name.path, in: folder.descriptor, intent.openMode) {
                opened throws(FileSystemError) in
                guard try fileSystem.attributes(of: opened).identity == file.identity else {
                    return false
                }
                return try files.judge.isRecorded(opened, by: intent)
            }
        } catch {
            guard error.isNotFound || error.isNotRegularFile else {
                throw .destination(destinations.path(of: intent), error)
            }
            return false
        }
    }

    /// The staged file of an intent and its folder: `staging`, or another one when a volume was mounted or
    /// unmounted since the file was staged.
    private func stagedFile(of intent: LedgerEntry, in staging: Directory)
        throws(CacheError) -> (folder: Directory, file: FileAttributes?)
    {
        try files.staged(FilePath(intent.stagedName), in: staging) ?? (staging, nil)
    }
}

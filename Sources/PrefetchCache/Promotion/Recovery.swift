internal import FileSystem
internal import ItemFormat
internal import Logging
internal import SystemPackage

/// Completes or undoes promotions that a crash interrupted.
///
/// | found | done |
/// |---|---|
/// | file moved aside | moved back: it is the user's |
/// | staged file without an entry | deleted, unless it is still being written: it never reached its intent |
/// | intent, staged file, no destination | verified, written again, then published; if damaged, dropped |
/// | intent, staged file, destination | one inode: committed; else published under the next name |
/// | intent, no staged file, destination is ours | committed, even when the user has changed it |
/// | intent, no staged file, otherwise | dropped: the cached copy, if there is one, is promotable |
///
/// Every row is idempotent, so that a crash during recovery is recovered from as well.
struct Recovery {
    private let promoter: Promoter

    init(_ promoter: Promoter) {
        self.promoter = promoter
    }

    /// A file in a staging folder.
    private struct Staged {
        let hash: KeyHash
        let name: FilePath.Component
        let folder: Directory
        /// Whether it is a file of the user's that was moved aside.
        let isAside: Bool
    }

    /// Settles everything that is not in the hands of a living process. With nothing to do, costs one listing
    /// per staging folder: an intent without a staged file waits for the next open of its key.
    ///
    /// What cannot be settled now stays as it is, rather than making the whole cache unusable: the next open
    /// of its key tries again, and reports the error.
    func run() {
        var folders = [promoter.support.staging]
        attempt("A destination cannot be looked at.") { () throws(CacheError) in
            folders = try onFiles { () throws(FileSystemError) in try promoter.support.stagingFolders() }
        }
        var staged: [Staged] = []
        for folder in folders {
            attempt("A staging folder cannot be listed.") { () throws(CacheError) in
                staged += try onFiles { () throws(FileSystemError) in try stagedFiles(in: folder) }
            }
        }
        guard !staged.isEmpty else { return }

        var intents: [LedgerEntry]?
        attempt("The ledger cannot be read.") { () throws(CacheError) in
            intents = try promoter.ledger.intents()
        }
        for intent in intents ?? [] {
            attempt("A promotion cannot be completed yet.", of: intent.key) { () throws(CacheError) in
                try promoter.locks.holdIfFree(intent.key.hash) { () throws(CacheError) in
                    try completeIfBegun(intent.key)
                }
            }
        }
        for file in staged {
            attempt("A staged file stays behind.") { () throws(CacheError) in
                try promoter.locks.holdIfFree(file.hash) { () throws(CacheError) in
                    try discardUnclaimed(file)
                }
            }
        }
    }

    private func attempt(_ failure: String, of key: ItemKey? = nil, _ body: () throws(CacheError) -> Void) {
        do {
            try body()
        } catch {
            var metadata: Logger.Metadata = ["error": "\(error)"]
            if let key { metadata["key"] = "\(key)" }
            promoter.environment.logger.warning("\(failure)", metadata: metadata)
        }
    }

    /// Removes what a dead process left in a staging folder that is not known when the cache is opened: one
    /// in a folder below an area that is a volume itself. Costs one listing.
    ///
    /// - Parameter held: The keys whose locks the caller holds. Nothing is staged for them yet.
    func sweep(_ staging: Directory, holding held: [KeyHash] = []) throws(CacheError) {
        let staged = try onFiles { () throws(FileSystemError) in try stagedFiles(in: staging) }
        for file in staged {
            if held.contains(where: { CacheLayout.keyLock(of: $0) == CacheLayout.keyLock(of: file.hash) }) {
                try discardUnclaimed(file)
                continue
            }
            try promoter.locks.holdIfFree(file.hash) { () throws(CacheError) in
                try discardUnclaimed(file)
            }
        }
    }

    /// Moves back what a dead process had moved aside for a key, whose lock the caller holds.
    ///
    /// - Returns: Whether there was anything.
    func putBack(_ hash: KeyHash) throws(CacheError) -> Bool {
        var isFound = false
        for folder in try onFiles({ () throws(FileSystemError) in try promoter.support.stagingFolders() }) {
            let staged = try onFiles { () throws(FileSystemError) in try stagedFiles(in: folder) }
            for file in staged where file.isAside && file.hash == hash {
                try promoter.putBack(FilePath(root: nil, [file.name]), hash, from: folder)
                isFound = true
            }
        }
        return isFound
    }

    private func stagedFiles(in folder: Directory) throws(FileSystemError) -> [Staged] {
        try promoter.fileSystem.entries(of: folder.descriptor).compactMap { entry in
            if let hash = CacheLayout.hash(ofAside: entry.name) {
                return Staged(hash: hash, name: entry.name, folder: folder, isAside: true)
            }
            return CacheLayout.hash(ofStaged: entry.name).map {
                Staged(hash: $0, name: entry.name, folder: folder, isAside: false)
            }
        }
    }

    /// The caller holds the lock of the file's key.
    private func discardUnclaimed(_ file: Staged) throws(CacheError) {
        if file.isAside {
            return try promoter.putBack(FilePath(root: nil, [file.name]), file.hash, from: file.folder)
        }
        let isClaimed = try promoter.ledger.intents().contains { $0.stagedName == file.name.string }
        if !isClaimed { try discardLeftover(FilePath(root: nil, [file.name]), in: file.folder) }
    }

    /// Removes a staged file, unless it is still being written. The file of an item that goes straight to its
    /// destination is staged for as long as it is downloaded; it is locked itself, and its key is not.
    func discardLeftover(_ name: FilePath, in staging: Directory) throws(CacheError) {
        let fileSystem = promoter.fileSystem
        do {
            try fileSystem.withFile(name, in: staging.descriptor, .read) { file throws(FileSystemError) in
                // Unlinked under the lock: a process that is about to take it will see that it is gone.
                if try fileSystem.lock(file, waiting: false) {
                    try fileSystem.unlink(name, in: staging.descriptor)
                }
            }
        } catch {
            guard !error.isNotFound else { return }
            guard error.isUnsupported || error.isNoRegularFile else { throw .fileSystem(error) }
            try promoter.discard(name, in: staging)
        }
    }

    private func completeIfBegun(_ key: ItemKey) throws(CacheError) {
        guard let entry = try promoter.ledger.entry(for: key), entry.state == .intent else { return }
        try complete(entry)
    }

    /// Settles one intent. The caller holds the lock of its key.
    func complete(_ intent: LedgerEntry) throws(CacheError) {
        var intent = intent
        let folder = try promoter.destination(of: &intent)
        let staging = try promoter.stagingFolder(for: folder, intent.area, intent.folder)
        let (origin, staged) = try stagedFile(of: intent, in: staging)
        let destination = try promoter.coordinated(.readMetadata, intent) { () throws(CacheError) in
            try promoter.attributes(of: intent, in: folder)
        }

        switch (staged, destination) {
        case (let staged?, let destination?) where staged.identity == destination.identity:
            try promoter.discard(FilePath(intent.stagedName), in: origin)
            _ = try promoter.commit(intent, in: folder)
        case (_?, _):
            guard let trusted = try promoter.restage(intent, from: origin, in: staging) else {
                try promoter.discard(FilePath(intent.stagedName), in: origin)
                return try promoter.ledger.remove(intent)
            }
            _ = try promoter.publish(trusted, from: staging, in: folder)
        case (nil, let destination?):
            let claimed = try promoter.coordinated(.write, intent) { () throws(CacheError) in
                try claim(destination, by: intent, in: folder)
            }
            guard let claimed else { return try promoter.ledger.remove(intent) }
            _ = try promoter.commit(claimed, in: folder)
        case (nil, nil):
            try promoter.ledger.remove(intent)
        }
    }

    /// Gives up a promotion that cannot be completed, and drops its entry. The caller holds the lock of the key.
    ///
    /// - Parameter takeBack: Receives the content that is no longer in the cache, while the entry is still there: a
    ///   crash in between must not lose it.
    func abandon(
        _ intent: LedgerEntry, takingBack takeBack: (LedgerEntry, Descriptor) throws(CacheError) -> Void
    )
        throws(CacheError)
    {
        var intent = intent
        let name = FilePath(intent.stagedName)
        let folder = try promoter.destination(of: &intent)
        let staging = try promoter.stagingFolder(for: folder, intent.area, intent.folder)
        let (origin, staged) = try stagedFile(of: intent, in: staging)
        guard staged != nil else { return try promoter.ledger.remove(intent) }
        let file = try onFiles { () throws(FileSystemError) in
            try promoter.fileSystem.open(name, in: origin.descriptor, .read)
        }
        defer { promoter.fileSystem.close(file) }
        if intent.mode == .rename, try !promoter.hasCachedCopy(intent.key) { try takeBack(intent, file) }
        try promoter.ledger.remove(intent)
        try promoter.discard(name, in: origin)
    }

    /// The entry of the file under an intent's name, if it is the one of the intent; otherwise `nil`. The ledger may
    /// come from a backup, and the file be unrelated.
    private func claim(_ file: FileAttributes, by intent: LedgerEntry, in folder: Directory)
        throws(CacheError) -> LedgerEntry?
    {
        if try wasStaged(file, by: intent, in: folder) { return intent }
        guard try promoter.isIdentical(intent, in: folder) else { return nil }
        // Adopted, or about to be: it may never have been flushed.
        try promoter.flushFile(of: intent, in: folder)
        return intent.adopted
    }

    /// Whether the file under an intent's name is the one that was staged, even if the user has changed it
    /// since.
    private func wasStaged(_ file: FileAttributes, by intent: LedgerEntry, in folder: Directory)
        throws(CacheError) -> Bool
    {
        guard intent.birthTime != nil, file.kind == .regular, file.identity.inode == intent.inode else {
            return false
        }
        do {
            return try promoter.fileSystem.withFile(intent.name.path, in: folder.descriptor, .read) {
                opened throws(FileSystemError) in
                guard try promoter.fileSystem.attributes(of: opened).identity == file.identity else {
                    return false
                }
                return try promoter.isOurs(opened, by: intent)
            }
        } catch {
            guard error.isNotFound || error.isNoRegularFile else {
                throw .destination(promoter.path(of: intent), error)
            }
            return false
        }
    }

    /// The staged file of an intent and its folder: `staging`, or another one when a volume was mounted or
    /// unmounted since the file was staged.
    func stagedFile(of intent: LedgerEntry, in staging: Directory)
        throws(CacheError) -> (folder: Directory, file: FileAttributes?)
    {
        let name = FilePath(intent.stagedName)
        if let file = try promoter.attributes(of: name, in: staging) { return (staging, file) }
        let others = try onFiles { () throws(FileSystemError) in try promoter.support.stagingFolders() }
        for folder in others {
            if let file = try promoter.attributes(of: name, in: folder) { return (folder, file) }
        }
        return (staging, nil)
    }
}

internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The second half of a promotion: a staged file gets its name, and the promotion is committed.
final class Publisher: Sendable {
    let files: PromotedFiles
    let copies: CachedCopies
    let ledger: any PromotionLedger
    let locks: KeyLock
    let admission: Admission

    init(
        files: PromotedFiles, copies: CachedCopies, ledger: any PromotionLedger, locks: KeyLock,
        admission: Admission
    ) {
        self.files = files
        self.locks = locks
        self.copies = copies
        self.ledger = ledger
        self.admission = admission
    }

    private var fileSystem: any FileSystem { support.fileSystem }
    private var destinations: Destinations { files.destinations }
    private var support: SupportFolders { destinations.support }

    /// Publishes the staged file under its name, or under the next one that is free and accepted, and commits.
    ///
    /// - Parameters:
    ///   - held: The keys whose locks the caller holds.
    ///   - isDisplaced: Whether its place is another key's; `nil` if the ledger is to be asked.
    func publish(
        _ intent: LedgerEntry, from staging: Directory, in folder: Directory, holding held: [KeyHash] = [],
        isDisplaced: Bool? = nil
    ) throws(CacheError) -> LedgerEntry {
        try publish(
            intent, from: staging, in: folder, holding: held, isDisplaced: isDisplaced,
            passingOverUnreadable: true
        ) { entry throws(CacheError) in
            try publishOnce(entry, from: staging, in: folder)
        } discard: { () throws(CacheError) in
            try files.discardStaged(FilePath(intent.stagedName), in: staging)
        }
    }

    /// Publishes a file from anywhere, as ``publish(_:from:in:holding:isDisplaced:)`` does one from staging.
    ///
    /// A key keeps the name of its file even after its user has deleted that: otherwise it would be opened as what has taken
    /// the name.
    ///
    /// - Parameters:
    ///   - staging: Where a bundle comes from.
    ///   - passesOverUnreadable: Whether a file that cannot be compared counts as another one. Otherwise the call fails.
    ///   - rename: Gives the file the name of an entry.
    ///   - discard: Removes the file when another one with its content was adopted, before the commit.
    func publish(
        _ intent: LedgerEntry, from staging: Directory? = nil, in folder: Directory,
        holding held: [KeyHash] = [], isDisplaced: Bool? = nil,
        passingOverUnreadable passesOverUnreadable: Bool,
        _ rename: (LedgerEntry) throws(CacheError) -> Placing,
        discard: () throws(CacheError) -> Void
    ) throws(CacheError) -> LedgerEntry {
        var entry = intent
        var (number, changes) = (1, 0)
        var isDisplaced = if let isDisplaced { isDisplaced } else { try ledger.isPlaceOfAnother(intent) }
        while true {
            let tried = entry
            var placing = Placing.isTaken
            if !isDisplaced {
                placing = try destinations.coordinated(.publish, tried) { () throws(CacheError) in
                    try rename(tried)
                }
            }
            var failure: CacheError?
            switch placing {
            case .isInPlace: return try commit(tried, replacing: tried, from: staging, in: folder)
            case .isTaken:
                switch try adopt(
                    tried, in: folder, holding: held, passingOverUnreadable: passesOverUnreadable, discard)
                {
                case .isAdopted(let adopted): return adopted
                case .isChanged where changes < Self.mostChanges:
                    changes += 1
                    // It may have been another key's, whose user has deleted it.
                    isDisplaced = try ledger.isPlaceOfAnother(tried)
                    continue
                case .isChanged, .isHeld: break
                case .isAnother(let error): failure = error
                }
                repeat {
                    number += 1
                    entry.name = entry.plainName.numbered(number)
                } while try isSurelyTaken(entry, in: folder, intent)
            case .isRefused(let error):
                guard let name = entry.plainName.adapted(to: error.errno) else {
                    throw .destination(destinations.path(of: intent), error)
                }
                number = 1
                (entry.name, entry.plainName) = (name, name)
            }
            isDisplaced = try !ledger.put(entry, replacing: tried).isEmpty
            // After a failed flush a later success proves nothing, so the file is not adopted.
            if let failure { throw failure }
        }
    }

    /// How often a file that changes while it is compared is compared again.
    private static let mostChanges = 3

    /// Whether a name is certain to be taken, which saves a transaction of the ledger.
    private func isSurelyTaken(_ entry: LedgerEntry, in folder: Directory, _ first: LedgerEntry)
        throws(CacheError) -> Bool
    {
        // Recovery may have found this name in the ledger, in which case it was tried first.
        guard entry.name != first.name else { return true }
        let found = try destinations.coordinated(.readMetadata, entry) { () throws(CacheError) in
            try files.attributes(of: entry, in: folder)
        }
        guard let found else { return false }
        // Comparing the folders of all earlier bundles of that name would take the longer the more there are.
        return found.kind != .regular || found.kind != entry.kind || found.length != entry.contentBytes
    }

    enum Placing {
        case isInPlace
        /// Another file has the name.
        case isTaken
        /// The file system does not accept the name.
        case isRefused(FileSystemError)
    }

    enum Adoption {
        /// The promotion is committed.
        case isAdopted(LedgerEntry)
        /// The file was changed, moved or removed meanwhile.
        case isChanged
        /// It is that of a key that is being worked on.
        case isHeld
        /// It has other content, is a part of a bundle, or could not be made durable.
        case isAnother(CacheError?)
    }

    /// Promotes a key to the file that has the name of its entry, if that is identical.
    ///
    /// Meanwhile the locks of all keys that have this file are held: who removes or replaces a file, under the lock of its
    /// key, sees all others that have it, and gets no new ones. A lock that is not free is not waited for: two who hold one
    /// and wait for another might wait for each other.
    ///
    /// - Parameters:
    ///   - staging: Where a bundle may have come from: it may be the very folder that was staged.
    ///   - held: The keys whose locks the caller holds, beside that of the entry.
    ///   - passesOverUnreadable: Whether a file that cannot be compared counts as another one.
    ///   - discard: Removes what the key was to be promoted to, before the commit.
    func adopt(
        _ entry: LedgerEntry, from staging: Directory? = nil, in folder: Directory,
        holding held: [KeyHash] = [], passingOverUnreadable passesOverUnreadable: Bool,
        _ discard: () throws(CacheError) -> Void
    ) throws(CacheError) -> Adoption {
        let sharers: [KeyHash]
        let identical: FileAttributes
        do {
            let found = try destinations.coordinated(.readContent, entry) { () throws(CacheError) in
                try files.identicalFile(to: entry, in: folder)
            }
            let others = try ledger.others(sharing: entry)
            // What is in a bundle goes with it.
            guard let found, !others.contains(where: entry.isInside) else { return .isAnother(nil) }
            identical = found
            sharers = try self.sharers(of: found.identity, among: others).map(\.key.hash)
                .filter { !held.contains($0) }
        } catch .destination(_, let error) where passesOverUnreadable && error.isNotPermitted {
            return .isAnother(nil)
        }
        return try locks.holdFree(sharers) { isHeld throws(CacheError) in
            guard sharers.allSatisfy(isHeld) else { return .isHeld }
            let failure = try destinations.coordinated(.publish, entry) {
                () throws(CacheError) -> Adoption? in
                guard try files.attributes(of: entry, in: folder)?.isUnchanged(since: identical) ?? false
                else { return .isChanged }
                do throws(CacheError) {
                    try files.flushFile(of: entry, in: folder)
                    // The name may be as new as the content, and the staged file is the only durable copy so far.
                    try destinations.onDestination(entry, fileSystem.synchronize(folder.descriptor))
                    try discard()
                    return nil
                } catch {
                    return .isAnother(error)
                }
            }
            if let failure { return failure }
            return .isAdopted(try commit(entry.adopted, replacing: entry, from: staging, in: folder))
        }
    }

    /// Those of several entries of other keys, complete or under way, whose file is the one that was found under the name of an
    /// entry.
    func sharers(of file: FileAttributes.Identity, among others: [LedgerEntry]) throws(CacheError)
        -> [LedgerEntry]
    {
        var sharers: [LedgerEntry] = []
        // What is not available now is another file.
        for other in others where support.areas.path(of: other.area) != nil {
            // The paths may differ: the file system may equate names, or one of the folders be a symbolic link.
            if try files.existingAttributes(of: other)?.identity == file { sharers.append(other) }
        }
        return sharers
    }

    /// Gives the staged file its name, if it is the very one that was staged: any process that can write to a staging
    /// folder could exchange it. Where inodes are not stable, its content decides. Once published, the file is the
    /// user's, who may already have replaced it.
    ///
    /// - Throws: `ESTALE` for another file, which stays in staging.
    func publishOnce(_ entry: LedgerEntry, from staging: Directory, in folder: Directory)
        throws(CacheError) -> Placing
    {
        let name = FilePath(entry.stagedName)
        let isAnother = try destinations.onDestination(entry) { () throws(FileSystemError) in
            guard let inode = try fileSystem.inode(of: name, in: staging.descriptor), inode != entry.inode
            else { return false }
            return try files.checksum(of: name, in: staging, entry) != entry.contentChecksum
        }
        if isAnother {
            throw .destination(
                destinations.path(of: entry),
                FileSystemError("rename", path: name, errno: .staleNFSFileHandle))
        }
        do {
            try admission.retryingAfterEviction(in: folder) { () throws(CacheError) in
                try destinations.onDestination(
                    entry,
                    fileSystem.rename(
                        name, in: staging.descriptor, to: entry.name.path, in: folder.descriptor, .exclusive))
            }
            return .isInPlace
        } catch .destination(_, let error) where error.errno == .fileExists {
            return .isTaken
        } catch .destination(_, let error) where error.isRefusedName {
            return .isRefused(error)
        }
    }

    /// Makes the name of a published file durable, and then commits: a name that is visible after a process crash need
    /// not survive a power cut.
    ///
    /// - Parameters:
    ///   - entry: The intent, or the same one of an adopted file.
    ///   - intent: What is in the ledger.
    ///   - staging: Where a bundle comes from: a folder that has its old name as well after a power cut loses one of the two
    ///     when the volume is checked.
    func commit(
        _ entry: LedgerEntry, replacing intent: LedgerEntry, from staging: Directory?, in folder: Directory
    ) throws(CacheError) -> LedgerEntry {
        let others = try excludedOthers(than: entry)
        let changes = try destinations.coordinated(.write, entry) { () throws(CacheError) in
            try files.renewMark(of: entry, in: folder)
            let changes = try files.include(entry, in: folder, despite: others)
            try destinations.onDestination(entry) { () throws(FileSystemError) in
                try fileSystem.synchronize(folder.descriptor)
                if let staging, entry.kind == .directory { try fileSystem.synchronize(staging.descriptor) }
            }
            return changes
        }
        var committed = entry
        committed.state = .committed
        let all = [LedgerChange(old: intent, new: committed)] + changes
        try copies.drop([entry.key]) { () throws(CacheError) in
            // Until it is durable, the intent and the file under its name are as good: recovery commits.
            try admission.retryingAfterEviction(in: support.root) { () throws(CacheError) in
                _ = try ledger.make(all, flushing: !changes.isEmpty)
            }
        }
        copies.catalog.noteAbsent(entry.key.hash)
        return committed
    }

    /// The entries of other keys that may share an adopted file and exclude it from backups, while the item includes
    /// it.
    private func excludedOthers(than entry: LedgerEntry) throws(CacheError) -> [LedgerEntry] {
        guard entry.origin == .adopted, entry.backup == .include else { return [] }
        return try ledger.others(sharing: entry).filter {
            $0.state == .committed && $0.backup == .exclude
        }
    }
}

extension FileSystemError {
    /// Whether the file system does not accept a name: `ENAMETOOLONG`, `EILSEQ` or `EINVAL`.
    var isRefusedName: Bool {
        errno == .fileNameTooLong || errno == .illegalByteSequence || errno == .invalidArgument
    }
}

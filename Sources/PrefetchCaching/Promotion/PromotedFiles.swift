internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

/// The files of promoted items, complete or under way. They are the user's, who may change, move or replace them at any
/// time.
final class PromotedFiles: Sendable {
    let environment: CacheEnvironment
    let destinations: Destinations
    private let lastNumber = Atomic<UInt64>(0)

    init(environment: CacheEnvironment, destinations: Destinations) {
        self.environment = environment
        self.destinations = destinations
    }

    private var fileSystem: any FileSystem { environment.fileSystem }

    // MARK: What is there

    /// The file of a committed promotion, or `nil` when it is no longer there.
    func existingFile(of entry: LedgerEntry) throws(CacheError) -> PromotedFile? {
        guard let file = try existingAttributes(of: entry) else { return nil }
        return destinations.promotedFile(entry, presentBytes: file.length)
    }

    /// The attributes of the file of a committed promotion, or `nil` when there is no regular file any more.
    func existingAttributes(of entry: LedgerEntry) throws(CacheError) -> FileAttributes? {
        let file = try destinations.coordinated(.readMetadata, entry) { () throws(CacheError) in
            guard let folder = try destinations.existingFolder(of: entry) else {
                return nil as FileAttributes?
            }
            return try attributes(of: entry, in: folder)
        }
        return file?.kind == .regular ? file : nil
    }

    func attributes(of file: Descriptor) throws(CacheError) -> FileAttributes {
        try onFiles(fileSystem.attributes(of: file))
    }

    func birthTime(of file: Descriptor) throws(CacheError) -> Int64? {
        try onFiles(fileSystem.birthTime(of: file))
    }

    /// The attributes of whatever is under the name of a promotion.
    func attributes(of entry: LedgerEntry, in folder: Directory) throws(CacheError) -> FileAttributes? {
        try destinations.onDestination(
            entry, fileSystem.attributes(of: entry.name.path, in: folder.descriptor))
    }

    func attributes(of name: FilePath, in folder: Directory) throws(CacheError) -> FileAttributes? {
        try onFiles(fileSystem.attributes(of: name, in: folder.descriptor))
    }

    /// Whether a file is the one that was written for an entry, rather than one that was there before or that the user
    /// put in its place.
    func isOurs(_ file: Descriptor, by entry: LedgerEntry) throws(FileSystemError) -> Bool {
        guard entry.origin != .adopted, try fileSystem.attributes(of: file).identity.inode == entry.inode
        else { return false }
        guard let birthTime = entry.birthTime else { return entry.origin == .written }
        return try fileSystem.birthTime(of: file) == birthTime
    }

    /// Whether the file under the entry's name holds exactly the content of the item.
    func isIdentical(_ entry: LedgerEntry, in folder: Directory) throws(CacheError) -> Bool {
        guard let attributes = try attributes(of: entry, in: folder),
            attributes.kind == .regular, attributes.length == entry.contentBytes
        else { return false }
        do throws(FileSystemError) {
            return try checksum(of: entry.name.path, in: folder) == entry.contentChecksum
        } catch {
            guard error.isNotFound || error.isNotRegularFile else {
                throw .destination(destinations.path(of: entry), error)
            }
            return false
        }
    }

    func checksum(of name: FilePath, in folder: Directory) throws(FileSystemError) -> UInt64 {
        try fileSystem.withFile(name, in: folder.descriptor, .read) { file throws(FileSystemError) in
            try fileSystem.contentChecksum(of: file)
        }
    }

    /// Opens the file of an entry.
    ///
    /// - Returns: `nil` when there is none: it is the user's, who may have moved or replaced it.
    private func withFile<Result>(
        of entry: LedgerEntry, in folder: Directory, _ body: (Descriptor) throws(FileSystemError) -> Result
    ) throws(CacheError) -> Result? {
        do {
            return try fileSystem.withFile(entry.name.path, in: folder.descriptor, .read, body)
        } catch {
            guard error.isNotFound || error.isNotRegularFile else {
                throw .destination(destinations.path(of: entry), error)
            }
            return nil
        }
    }

    /// Opens the file of an entry to examine it, which does not count as a use where the system allows that.
    ///
    /// - Returns: `nil` when there is none, as for ``withFile(of:in:_:)``.
    func openWithoutAccessTime(_ entry: LedgerEntry, in folder: Directory) throws(CacheError) -> Descriptor? {
        do {
            return try fileSystem.open(entry.name.path, in: folder.descriptor, .readWithoutAccessTime)
        } catch {
            guard error.isNotFound || error.isNotRegularFile else {
                throw .destination(destinations.path(of: entry), error)
            }
            return nil
        }
    }

    // MARK: Marks and flushes

    /// Sets the backup mark of a file before it is published, unless a folder above its destination has it. A file
    /// system that does not support the mark does not prevent publishing: the mark is only a hint.
    func mark(_ file: Descriptor, _ backup: BackupPolicy, in area: Area, _ folder: FolderPath?)
        throws(FileSystemError)
    {
        if backup == .exclude, try destinations.support.isExcluded(folder, in: area) { return }
        try mark(file, backup)
    }

    /// - Returns: Whether the file has the mark now.
    @discardableResult
    func mark(_ file: Descriptor, _ backup: BackupPolicy) throws(FileSystemError) -> Bool {
        do {
            try BackupMark(fileSystem: fileSystem).set(backup, on: file)
            return true
        } catch {
            guard error.isUnsupported || error.isOutOfSpace || error.isNotPermitted else { throw error }
            return false
        }
    }

    /// Sets the mark again if publishing or the user lost it: otherwise the next backup would include the file.
    func renewMark(of entry: LedgerEntry, in folder: Directory) throws(CacheError) {
        guard entry.backup == .exclude,
            try !destinations.onDestination(
                entry, destinations.support.isExcluded(entry.folder, in: entry.area))
        else { return }
        _ = try withFile(of: entry, in: folder) { file throws(FileSystemError) in
            guard try BackupMark(fileSystem: fileSystem).policy(of: file) != entry.backup,
                try isOurs(file, by: entry)
            else { return }
            if try mark(file, entry.backup) { try fileSystem.synchronize(file) }
        }
    }

    /// Whether a file that was written for an entry and not changed since is in backups, although the entry excludes it.
    func hasLostMark(_ file: Descriptor, of entry: LedgerEntry) throws(FileSystemError) -> Bool {
        guard try BackupMark(fileSystem: fileSystem).policy(of: file) == .include,
            try !destinations.support.isExcluded(entry.folder, in: entry.area)
        else { return false }
        let attributes = try fileSystem.attributes(of: file)
        guard attributes.kind == .regular, attributes.length == entry.contentBytes,
            try isOurs(file, by: entry)
        else { return false }
        return try fileSystem.contentChecksum(of: file) == entry.contentChecksum
    }

    /// Includes in backups a file that was written for other keys, which exclude it, and that this entry includes.
    ///
    /// - Parameter others: The entries with the same content.
    /// - Returns: What is to change in the ledger with the promotion.
    func include(_ entry: LedgerEntry, in folder: Directory, despite others: [LedgerEntry])
        throws(CacheError) -> [LedgerChange]
    {
        guard !others.isEmpty else { return [] }
        return try withFile(of: entry, in: folder) { file throws(FileSystemError) in
            var changes: [LedgerChange] = []
            for other in others where try isOurs(file, by: other) {
                var included = other
                included.backup = .include
                changes.append(LedgerChange(old: other, new: included))
            }
            if !changes.isEmpty, try mark(file, .include) { try fileSystem.synchronize(file) }
            return changes
        } ?? []
    }

    /// Makes the content of a file that was found under the entry's name durable.
    func flushFile(of entry: LedgerEntry, in folder: Directory) throws(CacheError) {
        try destinations.onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.withFile(entry.name.path, in: folder.descriptor, .read) {
                file throws(FileSystemError) in try fileSystem.synchronize(file)
            }
        }
    }

    /// Removes a name, which may already be gone.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    func discard(_ name: FilePath, in folder: Directory) throws(CacheError) -> Bool {
        do {
            try fileSystem.unlink(name, in: folder.descriptor)
            return true
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
            return false
        }
    }

    // MARK: Use

    /// The interval at which the kernel updates access times under `relatime`.
    private static let dayInNanoseconds: Int64 = 86_400_000_000_000

    /// Records that an excluded file is about to be used, in its access time: many volumes, such as those of
    /// phones, do not record accesses themselves. Sets a mark again that it has lost.
    func noteUse(of entry: LedgerEntry) {
        guard entry.backup == .exclude else { return }
        do {
            guard let folder = try destinations.existingFolder(of: entry) else { return }
            // Times after 2262 exceed 64-bit nanoseconds; no use is recorded.
            let (now, isTooLate) = environment.now().multipliedReportingOverflow(by: 1_000_000)
            guard !isTooLate else { return }
            try destinations.onDestination(entry) { () throws(FileSystemError) in
                try destinations.support.renewExclusion(above: entry.folder, in: entry.area)
                try fileSystem.withFile(entry.name.path, in: folder.descriptor, .readWithoutAccessTime) {
                    file throws(FileSystemError) in
                    if try hasLostMark(file, of: entry) { try mark(file, .exclude) }
                    guard let last = try fileSystem.accessTime(of: file), last < now - Self.dayInNanoseconds
                    else { return }
                    try fileSystem.setAccessTime(now, of: file)
                }
            }
        } catch {
            // The user may have made the file read-only. It is opened nevertheless.
            environment.logger.debug(
                "The use of a file could not be recorded.",
                metadata: ["key": "\(entry.key)", "error": "\(error)"])
        }
    }

    /// When an open file was last used, in milliseconds since 1970, as far as it is recorded.
    func lastUse(_ file: Descriptor, of entry: LedgerEntry) throws(CacheError) -> Int64 {
        let modified = try attributes(of: file).modified
        let accessed = try onFiles(fileSystem.accessTime(of: file))
        return max(entry.openedAt, max(modified, accessed ?? .min) / 1_000_000)
    }

    // MARK: On their way

    /// Opens the staged file of an intent or, when that has its name already, the file under the name. The content is
    /// its first `contentBytes` bytes. It is verified, since after a crash a staged file may be torn, and the name may
    /// be that of another file.
    ///
    /// - Returns: `nil` when the content is in neither place.
    func openUnderWay(_ intent: LedgerEntry) throws(CacheError) -> Descriptor? {
        try findUnderWay(intent) { name, folder throws(FileSystemError) in
            try openVerified(name, of: intent, in: folder)
        }
    }

    /// Whether there is content to read, judging by lengths alone: it may be long, and is verified when it is read.
    func isUnderWay(_ intent: LedgerEntry) throws(CacheError) -> Bool {
        let found = try findUnderWay(intent) { name, folder throws(FileSystemError) -> FileAttributes? in
            let file = try fileSystem.attributes(of: name, in: folder.descriptor)
            // The footer may not be cut off yet.
            return file?.kind == .regular && file?.length ?? 0 >= intent.contentBytes ? file : nil
        }
        return found != nil
    }

    private func findUnderWay<Found>(
        _ intent: LedgerEntry, _ look: (FilePath, Directory) throws(FileSystemError) -> Found?
    ) throws(CacheError) -> Found? {
        func find(_ name: FilePath, in folder: Directory) throws(CacheError) -> Found? {
            do {
                return try look(name, folder)
            } catch {
                guard error.isNotFound || error.isNotRegularFile || error.isRefusedName else {
                    throw .fileSystem(error)
                }
                return nil
            }
        }
        let staging = try onFiles(destinations.support.stagingFolders())
        for folder in staging {
            if let found = try find(FilePath(intent.stagedName), in: folder) { return found }
        }
        guard let folder = try destinations.existingFolder(of: intent) else { return nil }
        return try find(intent.name.path, in: folder)
    }

    private func openVerified(_ name: FilePath, of intent: LedgerEntry, in folder: Directory)
        throws(FileSystemError) -> Descriptor?
    {
        try fileSystem.open(name, in: folder.descriptor, .read) { file throws(FileSystemError) in
            try fileSystem.contentChecksum(of: file, count: intent.contentBytes) == intent.contentChecksum
        }
    }

    // MARK: Removing what the user may be replacing

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

    /// Removes the file of a promotion, durably.
    ///
    /// - Parameter identity: Of the file that was found. Another one stays.
    /// - Returns: Whether it was there and was removed.
    func delete(_ entry: LedgerEntry, _ identity: FileAttributes.Identity) throws(CacheError) -> Bool {
        try destinations.coordinated(.delete, entry) { () throws(CacheError) in
            guard let folder = try destinations.existingFolder(of: entry),
                try attributes(of: entry, in: folder)?.identity == identity
            else { return false }
            do throws(FileSystemError) {
                try fileSystem.unlink(entry.name.path, in: folder.descriptor)
                try fileSystem.synchronize(folder.descriptor)
            } catch {
                guard error.isNotFound else { throw .destination(destinations.path(of: entry), error) }
                return false
            }
            return true
        }
    }

    enum Removal {
        case removed
        /// It is another file, or is being written, and has its name back, or the next free one.
        case putBack(FileName)
        /// It was moved or deleted.
        case missing
    }

    /// Removes a file that was inspected, unless it was changed or replaced since.
    ///
    /// The user may save another file under the name at any moment, so the file is moved aside before the final
    /// comparison.
    ///
    /// - Parameters:
    ///   - file: The open file.
    ///   - found: Its attributes when it was inspected.
    ///   - aside: A unique name, so that nothing is replaced.
    ///   - staging: A folder on the same volume.
    func remove(
        _ file: Descriptor, _ found: FileAttributes, _ name: FileName, in folder: Directory,
        by aside: FilePath, in staging: Directory
    ) throws(FileSystemError) -> Removal {
        do {
            try fileSystem.rename(
                name.path, in: folder.descriptor, to: aside, in: staging.descriptor, .replacing)
        } catch {
            guard error.isNotFound else { throw error }
            return .missing
        }
        var failure: FileSystemError?
        do throws(FileSystemError) {
            // Nothing can open it now; earlier writers may write until this says no, and then its times tell.
            if try fileSystem.isBeingWritten(file) != true,
                try fileSystem.attributes(of: aside, in: staging.descriptor)?.isUnchanged(since: found)
                    ?? false
            {
                try fileSystem.unlink(aside, in: staging.descriptor)
                return .removed
            }
        } catch {
            failure = error
        }
        let place = try putBack(aside, as: name, from: staging, in: folder)
        if let failure { throw failure }
        return place.map(Removal.putBack) ?? .missing
    }

    /// Restores the name of a file that was moved aside, or uses the next free one if the name was taken meanwhile.
    ///
    /// - Returns: The name that it has now; `nil` when it is not there any more.
    func putBack(_ aside: FilePath, as name: FileName, from staging: Directory, in folder: Directory)
        throws(FileSystemError) -> FileName?
    {
        // If this process is killed before the flush, the name looks durable but is not. Recovery flushes the folder of
        // a key before it removes a leftover of that key, so one exists until then.
        let leftover = try makeLeftover(for: aside, in: staging)
        let place = try rename(aside, from: staging, backTo: name, in: folder)
        if place != nil { try fileSystem.synchronize(folder.descriptor) }
        if let leftover { try fileSystem.unlink(leftover, in: staging.descriptor) }
        return place
    }

    private func makeLeftover(for aside: FilePath, in staging: Directory) throws(FileSystemError) -> FilePath?
    {
        guard let name = aside.lastComponent.flatMap(CacheLayout.stagedName(ofAside:)) else { return nil }
        let leftover = FilePath(root: nil, [name])
        do {
            let mode = OpenMode.createIfMissing(CacheLayout.filePermissions)
            fileSystem.close(try fileSystem.open(leftover, in: staging.descriptor, mode))
            return leftover
        } catch {
            // On a full volume the user gets the file back nevertheless.
            guard error.isOutOfSpace else { throw error }
            return nil
        }
    }

    private func rename(
        _ aside: FilePath, from staging: Directory, backTo name: FileName, in folder: Directory
    ) throws(FileSystemError) -> FileName? {
        var place = name
        var number = 1
        while true {
            do {
                try fileSystem.rename(
                    aside, in: staging.descriptor, to: place.path, in: folder.descriptor, .exclusive)
                return place
            } catch {
                if error.isNotFound { return nil }
                guard error.errno == .fileExists else { throw error }
            }
            // After a power cut it may still have its old name as well.
            let (moved, found) = (
                try fileSystem.attributes(of: aside, in: staging.descriptor),
                try fileSystem.attributes(of: place.path, in: folder.descriptor)
            )
            if let moved, moved.identity == found?.identity {
                try fileSystem.unlink(aside, in: staging.descriptor)
                return place
            }
            number += 1
            place = name.numbered(number)
        }
    }
}

extension FileAttributes {
    /// Whether these are the attributes of the same, unchanged file.
    func isUnchanged(since earlier: FileAttributes) -> Bool {
        identity == earlier.identity && modified == earlier.modified && length == earlier.length
    }
}

extension LedgerEntry {
    /// The same promotion, of a file that was there already.
    var adopted: LedgerEntry {
        var entry = self
        entry.origin = .adopted
        return entry
    }
}

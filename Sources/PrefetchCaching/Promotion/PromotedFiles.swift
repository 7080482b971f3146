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
    var removal: CautiousRemoval { CautiousRemoval(fileSystem: fileSystem) }
    var judge: FileJudge { FileJudge(root: destinations.support.root) }

    // MARK: What is there

    /// The file of a committed promotion, or `nil` when it is no longer there.
    func existingFile(of entry: LedgerEntry) throws(CacheError) -> PromotedFile? {
        guard let file = try existingAttributes(of: entry) else { return nil }
        let presentBytes = entry.parts.isEmpty ? file.length : entry.contentBytes
        return destinations.promotedFile(entry, presentBytes: presentBytes)
    }

    /// The attributes of the file of a committed promotion, or of the folder of a bundle; `nil` when there is none any more.
    func existingAttributes(of entry: LedgerEntry) throws(CacheError) -> FileAttributes? {
        let file = try destinations.coordinated(.readMetadata, entry) { () throws(CacheError) in
            guard let folder = try destinations.existingFolder(of: entry) else {
                return nil as FileAttributes?
            }
            return try attributes(of: entry, in: folder)
        }
        return file?.kind == entry.kind ? file : nil
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

    /// The file under the entry's name, before it was read, if it holds exactly the content of the item.
    func identicalFile(to entry: LedgerEntry, in folder: Directory) throws(CacheError) -> FileAttributes? {
        guard let attributes = try attributes(of: entry, in: folder), attributes.kind == entry.kind,
            attributes.length == entry.contentBytes || !entry.parts.isEmpty
        else { return nil }
        do throws(FileSystemError) {
            let checksum = try checksum(of: entry.name.path, in: folder, entry)
            return checksum == entry.contentChecksum ? attributes : nil
        } catch {
            guard error.isNotFound || error.isNotRegularFile else {
                throw .destination(destinations.path(of: entry), error)
            }
            return nil
        }
    }

    /// The checksum of the content under a name; `nil` for a bundle that is not whole.
    func checksum(of name: FilePath, in folder: Directory, _ entry: LedgerEntry)
        throws(FileSystemError) -> UInt64?
    {
        guard entry.parts.isEmpty else {
            return try BundleFolder(name, in: folder, entry.parts)?.contentChecksum()
        }
        return try fileSystem.withFile(name, in: folder.descriptor, .read) { file throws(FileSystemError) in
            try fileSystem.contentChecksum(of: file)
        }
    }

    /// Hands the content under a name to `body`, piece by piece and in order.
    ///
    /// - Returns: `false` for a bundle that is not whole.
    func forEachPiece(
        of name: FilePath, in folder: Directory, _ entry: LedgerEntry,
        _ body: (UnsafeRawBufferPointer) throws(FileSystemError) -> Void
    ) throws(FileSystemError) -> Bool {
        guard entry.parts.isEmpty else {
            return try BundleFolder(name, in: folder, entry.parts)?.forEachPiece(body) ?? false
        }
        try fileSystem.withFile(name, in: folder.descriptor, .read) { file throws(FileSystemError) in
            try fileSystem.forEachPiece(of: file, count: entry.contentBytes) {
                piece, _ throws(FileSystemError) in
                try body(piece)
            }
        }
        return true
    }

    /// Opens the file of an entry.
    ///
    /// - Returns: `nil` when there is none: it is the user's, who may have moved or replaced it.
    private func withFile<Result>(
        of entry: LedgerEntry, in folder: Directory, _ body: (Descriptor) throws(FileSystemError) -> Result
    ) throws(CacheError) -> Result? {
        do {
            return try fileSystem.withFile(entry.name.path, in: folder.descriptor, entry.openMode, body)
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
            return try fileSystem.open(entry.name.path, in: folder.descriptor, entry.examiningMode)
        } catch {
            guard error.isNotFound || error.isNotRegularFile else {
                throw .destination(destinations.path(of: entry), error)
            }
            return nil
        }
    }

    // MARK: Permissions, marks and flushes

    /// Those with which a file for the destination of an entry is created. Only the creation of one tells: the umask of the
    /// process can be read only by setting it, for all threads.
    func permissions(for entry: LedgerEntry, in staging: Directory) throws(FileSystemError) -> FilePermissions
    {
        let wanted = CacheLayout.filePermissions(in: entry.area)
        guard entry.area != .applicationSupport else { return wanted }
        let name = FilePath(nextStagedName(entry.key))
        let created = try fileSystem.withFile(name, in: staging.descriptor, .createNew(wanted)) {
            file throws(FileSystemError) in try fileSystem.attributes(of: file).permissions
        }
        try fileSystem.unlink(name, in: staging.descriptor)
        return created
    }

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
            guard try BackupMark(fileSystem: fileSystem).policy(of: file) != entry.backup else { return }
            if try !judge.isRecorded(file, by: entry), try !judge.isUntouched(file, of: entry) { return }
            if try mark(file, entry.backup) { try fileSystem.synchronize(file) }
        }
    }

    /// Whether a file is in backups, although its entry excludes it: one that is not what was promoted any more belongs there.
    func isUnmarked(_ file: Descriptor, of entry: LedgerEntry) throws(FileSystemError) -> Bool {
        guard try BackupMark(fileSystem: fileSystem).policy(of: file) == .include else { return false }
        return try !destinations.support.isExcluded(entry.folder, in: entry.area)
    }

    /// Whether a file without a mark can get one, which is found out before all of it is read.
    private func isMarkable(_ file: Descriptor, of entry: LedgerEntry) throws(FileSystemError) -> Bool {
        let mark = BackupMark(fileSystem: fileSystem)
        guard try mark.policy(of: file) == .include else { return false }
        return try mark.isChangeable(on: file)
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
            for other in others where try judge.isItself(file, of: other) {
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
            if let bundle = try BundleFolder(entry.name.path, in: folder, entry.parts) {
                return try bundle.flush { file throws(FileSystemError) in try fileSystem.synchronize(file) }
            }
            try fileSystem.withFile(entry.name.path, in: folder.descriptor, .read) {
                file throws(FileSystemError) in try fileSystem.synchronize(file)
            }
        }
    }

    /// Removes a file, which may already be gone.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    func discard(_ name: FilePath, in folder: Directory) throws(CacheError) -> Bool {
        try discarding { () throws(FileSystemError) in
            try fileSystem.unlink(name, in: folder.descriptor)
        }
    }

    /// Removes what was staged: a file, or the folder of a bundle. It may already be gone.
    ///
    /// - Parameter staging: Where all names of this form are ours.
    /// - Returns: Whether it was there.
    @discardableResult
    func discardStaged(_ name: FilePath, in staging: Directory) throws(CacheError) -> Bool {
        try discarding { () throws(FileSystemError) in
            try fileSystem.removeStaged(name, in: staging.descriptor)
        }
    }

    private func discarding(_ remove: () throws(FileSystemError) -> Void) throws(CacheError) -> Bool {
        do {
            try remove()
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
                try fileSystem.withFile(entry.name.path, in: folder.descriptor, entry.examiningMode) {
                    file throws(FileSystemError) in
                    if try isMarkable(file, of: entry), try isUnmarked(file, of: entry),
                        try judge.isUntouched(file, of: entry)
                    {
                        try mark(file, .exclude)
                    }
                    guard let last = try fileSystem.accessTime(of: file), last < now - Self.dayInNanoseconds
                    else { return }
                    try fileSystem.setTimes(accessed: now, modified: nil, of: file)
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
        func lastUse(_ file: Descriptor) throws(FileSystemError) -> Int64 {
            max(try fileSystem.attributes(of: file).modified, try fileSystem.accessTime(of: file) ?? .min)
        }
        return try onFiles { () throws(FileSystemError) in
            var last = try lastUse(file)
            if !entry.parts.isEmpty {
                _ = try BundleFolder(file, entry.parts, fileSystem).forEachFile {
                    file, _ throws(FileSystemError) in
                    last = max(last, try lastUse(file))
                    return true
                }
            }
            return max(entry.openedAt, last / 1_000_000)
        }
    }

    // MARK: On their way

    /// Opens the staged content of an intent or, when that has its name already, the file under the name. The content is
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
            guard file?.kind == intent.kind else { return nil }
            return file?.length ?? 0 >= intent.contentBytes || !intent.parts.isEmpty ? file : nil
        }
        return found != nil
    }

    /// The folder of something staged, `staging` or another one, and its attributes.
    func staged(_ name: FilePath, in staging: Directory)
        throws(CacheError) -> (folder: Directory, file: FileAttributes?)?
    {
        if let file = try attributes(of: name, in: staging) { return (staging, file) }
        for folder in try onFiles(destinations.support.stagingFolders()) {
            if let file = try attributes(of: name, in: folder) { return (folder, file) }
        }
        return nil
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
        try fileSystem.open(name, in: folder.descriptor, intent.openMode) { file throws(FileSystemError) in
            let checksum =
                intent.parts.isEmpty
                ? try fileSystem.contentChecksum(of: file, count: intent.contentBytes)
                : try BundleFolder(file, intent.parts, fileSystem).contentChecksum()
            return checksum == intent.contentChecksum
        }
    }

    // MARK: Names and removal

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

    /// Removes the file of a promotion, durably, unless it is changed or replaced meanwhile. Of a folder with files that are not
    /// of the bundle, these stay.
    ///
    /// - Parameter identity: Of the file that was found. Another one stays.
    /// - Returns: Whether it was there and was removed.
    func delete(_ entry: LedgerEntry, _ identity: FileAttributes.Identity) throws(CacheError) -> Bool {
        let folder = try destinations.coordinated(.readMetadata, entry) { () throws(CacheError) in
            try destinations.existingFolder(of: entry)
        }
        guard let folder else { return false }
        let staging = try destinations.stagingFolder(for: folder, entry.area, entry.folder)
        return try destinations.coordinated(.delete, entry) { () throws(CacheError) in
            guard let found = try attributes(of: entry, in: folder), found.identity == identity else {
                return false
            }
            do throws(FileSystemError) {
                guard
                    try entry.parts.isEmpty
                        ? deleteFile(entry, found, in: folder, by: staging)
                        : deleteBundle(entry, identity, in: folder, by: staging)
                else { return false }
                try fileSystem.synchronizeMove(from: staging, to: folder)
            } catch {
                guard error.isNotFound else { throw .destination(destinations.path(of: entry), error) }
                return false
            }
            return true
        }
    }

    /// - Returns: Whether it was there, and as it was found.
    private func deleteFile(
        _ entry: LedgerEntry, _ found: FileAttributes, in folder: Directory, by staging: Directory
    ) throws(FileSystemError) -> Bool {
        var file: Descriptor?
        do {
            file = try fileSystem.open(entry.name.path, in: folder.descriptor, entry.examiningMode)
        } catch {
            guard error.errno == .permissionDenied else { throw error }
        }
        defer { if let file { fileSystem.close(file) } }
        let removed = try removal.remove(
            file, found, entry.name, in: folder, by: nextAsideName(entry.key), in: staging)
        return if case .removed = removed { true } else { false }
    }

    /// - Returns: Whether it was there.
    private func deleteBundle(
        _ entry: LedgerEntry, _ identity: FileAttributes.Identity, in folder: Directory,
        by staging: Directory
    ) throws(FileSystemError) -> Bool {
        guard let bundle = try BundleFolder(entry.name.path, in: folder, entry.parts),
            try fileSystem.attributes(of: bundle.folder).identity == identity
        else { return false }
        if let found = try bundle.photograph() {
            let removed = try removal.remove(
                bundle, found, entry.name, in: folder, by: nextAsideName(entry.key),
                and: FilePath(nextStagedName(entry.key)), in: staging)
            switch removed {
            case .removed: return true
            case .missing: return false
            case .putBack: break
            }
        }
        // One that its user has moved since is the user's, with all that is in it.
        guard try fileSystem.attributes(of: entry.name.path, in: folder.descriptor)?.identity == identity
        else { return false }
        try bundle.removeParts()
        try fileSystem.removeIfEmpty(entry.name.path, in: folder.descriptor)
        return true
    }
}

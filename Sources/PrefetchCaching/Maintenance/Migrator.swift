internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Imports the files of a folder into the cache: as items, or as files of the user's.
///
/// It can be interrupted at any moment and run again. A file is removed from its old location only when its new form is
/// durable, or by the very rename to its new name, which is entered in the ledger first, as for every promotion. A
/// later run removes files from the folder that are also at their new location with the same content.
struct Migrator {
    /// Stores the given length of a file as an item.
    ///
    /// - Throws: ``Left`` when it is not stored, and ``CacheError``.
    typealias Intake = (Descriptor, Int64, ItemMetadata) throws -> Void

    /// Why a file stays.
    struct Left: Error {
        let obstacle: MigratedFile.Obstacle

        init(_ obstacle: MigratedFile.Obstacle) {
            self.obstacle = obstacle
        }
    }

    private let engine: Engine
    private let request: MigrationRequest
    private let isDryRun: Bool
    private let intake: Intake
    /// The folders of items whose names were flushed.
    private let durableNames = DurableNames()

    /// - Parameter intake: `nil` for the cache; the simulated disk of a test has no catalog.
    init(engine: Engine, request: MigrationRequest, isDryRun: Bool, intake: Intake? = nil) {
        self.engine = engine
        self.request = request
        self.isDryRun = isDryRun
        self.intake = intake ?? { try engine.takeIn($0, $1, as: $2, isDryRun: isDryRun) }
    }

    private var promoter: Promoter { engine.promoter }
    private var files: PromotedFiles { engine.files }
    private var destinations: Destinations { engine.destinations }
    private var fileSystem: any FileSystem { engine.environment.fileSystem }

    func run(_ report: (MigratedFile) -> Void) throws(CacheError) {
        let top = try onFiles(Directory(at: request.folder, in: fileSystem))
        if !isDryRun { try resolveIntents() }
        let own = try ownFolders()
        let identity = try files.attributes(of: top.descriptor).identity
        guard try !onFiles(top.isBelow(own)) else {
            return report(MigratedFile(path: ".", key: nil, outcome: .left(.ours)))
        }
        var skipped = own
        if let target = try destinationRoot(), target != identity { skipped.insert(target) }
        let walk = FolderWalk(top: top, isSkipped: { skipped.contains($0) })
        try walk.run { entry throws(CacheError) in
            try engine.usage.requireNotSuspended()
            var entry = entry
            var key: ItemKey?
            var outcome: MigratedFile.Outcome
            do {
                try putBackIfAside(&entry)
                outcome = try migrate(entry, as: &key)
            } catch {
                outcome = .left(Self.obstacle(error))
            }
            report(MigratedFile(path: entry.path.displayText, key: key, outcome: outcome))
        } unreadable: { path, error in
            report(MigratedFile(path: path.displayText, key: nil, outcome: .left(.failed(error))))
        }
    }

    private static func obstacle(_ error: any Error) -> MigratedFile.Obstacle {
        switch error {
        case let left as Left: left.obstacle
        case let error as CacheError: .failed(error)
        case let error as FileSystemError: .failed(.fileSystem(error))
        case let error as ItemFormatError: .failed(.item(error))
        // Of a key, a file name or the path of a folder.
        default: .name("\(error)")
        }
    }

    // MARK: Which files

    /// Resolves what an earlier run entered in the ledger and did not finish: such a file may already have its new
    /// name.
    private func resolveIntents() throws(CacheError) {
        for intent in try engine.ledger.unfinished() {
            try promoter.locks.holdIfFree(intent.key.hash) { () throws(CacheError) in
                guard try engine.ledger.entry(for: intent.key) == intent else { return }
                try promoter.recovery.complete(intent)
            }
        }
    }

    private func ownFolders() throws(CacheError) -> Set<FileAttributes.Identity> {
        var folders = [engine.folders.current.root, destinations.support.root]
        folders += try onFiles(destinations.support.stagingFolders())
        var own: Set<FileAttributes.Identity> = []
        for folder in folders { own.insert(try files.attributes(of: folder.descriptor).identity) }
        return own
    }

    /// The folder that files go to, if it exists: its files would be moved into it again and again.
    private func destinationRoot() throws(CacheError) -> FileAttributes.Identity? {
        guard case .promoted(let area) = request.role else { return nil }
        let folder = try onFiles(destinations.support.existingDestination(in: area, nil))
        return try folder.map { folder throws(CacheError) in
            try files.attributes(of: folder.descriptor).identity
        }
    }

    /// Restores the name of a file that a migration moved aside before its process died.
    private func putBackIfAside(_ entry: inout FolderWalk.Entry) throws {
        guard !isDryRun, let name = CacheLayout.name(ofAside: entry.name) else { return }
        let place = try files.removal.putBack(
            FilePath(root: nil, [entry.name]), as: name, from: entry.folder, in: entry.folder)
        if let name = place?.path.lastComponent { entry = entry.named(name) }
    }

    /// Derives the key and the destination of a file from its path, opens it, and migrates it. It may have been removed
    /// or replaced since it was listed.
    private func migrate(_ entry: FolderWalk.Entry, as key: inout ItemKey?) throws -> MigratedFile.Outcome {
        let name = FilePath(root: nil, [entry.name])
        // The tag of a cache folder, ours or another's, is not content.
        if entry.attributes.kind == .directory || name == CacheDirectoryTag.name { throw Left(.ours) }
        guard entry.attributes.kind == .regular else { throw Left(.notARegularFile) }
        var names = try entry.path.components.map { component in
            guard let name = String(validating: component) else { throw Left(.name("its path is not UTF-8")) }
            return name
        }
        let itemKey = try ItemKey(request.keyPrefix + names.joined(separator: "/"))
        key = itemKey
        let fileName = try FileName(names.removeLast())
        let folder = names.isEmpty ? nil : try FolderPath(names.joined(separator: "/"))
        let area = request.area
        guard let destination = Destination(area: area, name: fileName, in: folder, backup: request.backup)
        else { throw Left(.name("nothing can be kept in \(area.title)")) }

        let file: Descriptor
        do {
            file = try fileSystem.open(name, in: entry.folder.descriptor, .read)
        } catch {
            if error.isNotFound { throw Left(.changed) }
            if error.isNotRegularFile { throw Left(.notARegularFile) }
            throw error.naming(name)
        }
        defer { fileSystem.close(file) }
        let original = Original(
            name: name, folder: entry.folder, key: itemKey, destination: destination, file: file,
            attributes: try files.attributes(of: file), files: files)
        guard original.attributes.kind == .regular else { throw Left(.notARegularFile) }
        switch request.role {
        case .cached where isDryRun: return try store(original)
        case .cached:
            // One at a time: the original of what another migration stores for the key will be gone.
            let hash = original.key.hash
            return try promoter.locks.holdFree([hash]) { isHeld throws(CacheError) in
                Result {
                    guard isHeld(hash) else { throw Left(.changed) }
                    return try store(original)
                }
            }.get()
        case .promoted: return try promote(original)
        }
    }

    // MARK: Files that become items

    private func store(_ original: Original) throws -> MigratedFile.Outcome {
        if try engine.promotedEntry(original.key) != nil { throw Left(.keyIsTaken) }
        guard try isDryRun || original.lock() else { throw Left(.changed) }
        var metadata = ItemMetadata(
            key: original.key, source: request.source, destination: original.destination)
        var isThere = try engine.cachedCopies.isThere(original.key)
        if isThere {
            do {
                // An expired item cannot be opened, so its metadata is not kept.
                let known = try withSameItem(original) { _, known in known }
                if !known.hasExpired(at: engine.environment.now) { metadata = known }
            } catch let error as ItemFormatError where error.isLoss {
                // Torn by a power cut before it was flushed.
                isThere = false
                if !isDryRun { _ = try engine.missed(original.key, error) }
            }
        }
        // Written again even if it is there: if an earlier flush failed, the next one succeeds although the content is
        // lost.
        try intake(original.file, original.attributes.length, metadata)
        if !isDryRun { try replaceByItem(original) }
        let place = AreaPath.item(original.key.hash)
        return isThere ? .merged(place) : .stored(place)
    }

    /// Removes a file when its item is durable, or the item when the file was changed meanwhile.
    private func replaceByItem(_ original: Original) throws {
        let isReplaced =
            try original.isUnchanged()
            && withSameItem(original) { item, _ in
                try flush(item, of: original.key.hash)
                return try original.drop()
            }
        guard isReplaced else {
            _ = try engine.remove(original.key)
            throw Left(.changed)
        }
    }

    /// Calls `body` with the open item if it is sound and holds exactly the content of the original.
    private func withSameItem<Result>(
        _ original: Original, _ body: (Descriptor, ItemMetadata) throws -> Result
    ) throws -> Result {
        guard let item = try engine.folders.openItem(original.key.hash) else { throw Left(.changed) }
        defer { fileSystem.close(item) }
        let reader = try ItemReader(item, of: fileSystem, codecs: engine.codecs)
        let footer = reader.footer
        guard footer.metadata.key == original.key, footer.contentBytes == original.attributes.length else {
            throw Left(.keyIsTaken)
        }
        var pieces = try reader.pieces(of: 0..<footer.contentBytes)
        while try pieces.next() != nil {}
        guard try original.checksum() == footer.contentChecksum else { throw Left(.keyIsTaken) }
        return try body(item, footer.metadata)
    }

    /// Stores are usually not flushed, but here the original is removed afterwards.
    private func flush(_ item: Descriptor, of hash: KeyHash) throws {
        try fileSystem.synchronize(item)
        let (items, name) = (engine.folders.current.items, CacheLayout.folder(of: hash))
        if let folder = try items.open(name) { try fileSystem.synchronize(folder.descriptor) }
        let caches = engine.folders.areas.caches.pushing(CacheLayout.root)
        try durableNames.flush(caches.pushing(CacheLayout.items).pushing(name), in: fileSystem)
    }

    // MARK: Files that become the user's

    private func promote(_ original: Original) throws -> MigratedFile.Outcome {
        if let entry = try engine.ledger.entry(for: original.key), try files.existingFile(of: entry) != nil {
            guard entry.state == .committed else { throw Left(.keyIsTaken) }
            return try merge(original, into: entry)
        }
        guard !isDryRun else { return try preview(original) }
        let place = try promoter.stager.place(for: original.destination, holding: [])
        return try destinations.support.isOneVolume(original.folder, place.folder)
            ? move(original, to: place) : copy(original)
    }

    private func preview(_ original: Original) throws -> MigratedFile.Outcome {
        let target = original.destination
        let place = AreaPath.promoted(target.name, in: target.area, target.folder)
        if let folder = try destinations.support.existingDestination(in: target.area, target.folder),
            try original.isInPlace(as: target.name, in: folder)
        {
            return .adopted(place)
        }
        return .moved(place)
    }

    /// Handles a file whose key was promoted before, possibly by an earlier run that was interrupted.
    private func merge(_ original: Original, into entry: LedgerEntry) throws -> MigratedFile.Outcome {
        let place = entry.location
        guard let folder = try destinations.existingFolder(of: entry) else { throw Left(.keyIsTaken) }
        if try original.isInPlace(as: entry.name, in: folder) { return .adopted(place) }
        guard original.attributes.length == entry.contentBytes,
            try original.checksum() == entry.contentChecksum,
            try destinations.coordinated(
                .write, entry,
                { () throws(CacheError) in
                    guard try files.identicalFile(to: entry, in: folder) != nil else { return false }
                    // An adopted file may never have been flushed.
                    if !isDryRun { try files.flushFile(of: entry, in: folder) }
                    return true
                })
        else { throw Left(.keyIsTaken) }
        if !isDryRun {
            // What another program put there is its own; a copy of ours may come from a run that was interrupted.
            if entry.origin == .written { try lendNature(of: original, to: entry, in: folder) }
            guard try original.drop() else { throw Left(.changed) }
        }
        return .merged(place)
    }

    /// Makes a copy on another volume what the original is beside its content. Otherwise the original stays.
    private func lendNature(of original: Original, to entry: LedgerEntry, in folder: Directory)
        throws(CacheError)
    {
        guard
            original.attributes.identity.device
                != (try files.attributes(of: folder.descriptor)).identity.device,
            entry.parts.isEmpty
        else { return }
        try destinations.onDestination(entry) { () throws(FileSystemError) in
            try fileSystem.withFile(entry.name.path, in: folder.descriptor, .readWrite) {
                copy throws(FileSystemError) in
                try fileSystem.copyNature(of: original.file, to: copy, leaving: BackupMark.isMark)
                try fileSystem.synchronize(copy)
            }
        }
    }

    /// To another volume: delivered like an item that the user asked for, and then removed from the folder.
    private func copy(_ original: Original) throws -> MigratedFile.Outcome {
        let metadata = ItemMetadata(
            key: original.key, source: request.source, intent: .userRequested,
            destination: original.destination)
        let name = original.name.string
        switch try engine.store(original.file, original.attributes.length, named: name, as: metadata) {
        case .refused(let refusal): throw Left(.refused(refusal))
        case .stored: throw Left(.keyIsTaken)
        case .delivered:
            guard let entry = try engine.ledger.entry(for: original.key) else { throw Left(.changed) }
            let outcome = try merge(original, into: entry)
            guard case .merged(let place) = outcome else { return outcome }
            return .moved(place)
        }
    }

    /// On the same volume: by a rename, which is entered in the ledger first.
    ///
    /// Nothing goes through staging, and resolving the intent never removes anything: the file is either at its old or
    /// at its new location.
    private func move(_ original: Original, to place: PromotionPlace) throws -> MigratedFile.Outcome {
        let target = original.destination
        try destinations.requireWritable(place, in: target)
        try engine.admission.makeRoomToOpen(0, in: destinations.support.staging)
        let checksum = try original.checksum()
        let former = try BackupMark(fileSystem: fileSystem).policy(of: original.file)
        var intent = LedgerEntry(
            key: original.key, state: .intent, mode: .rename, area: target.area, folder: place.path,
            name: target.name, plainName: target.name, backup: target.backup,
            contentBytes: original.attributes.length, contentChecksum: checksum,
            stagedName: files.nextStagedName(original.key), inode: original.attributes.identity.inode,
            birthTime: try files.birthTime(of: original.file), openedAt: engine.environment.now())
        return try promoter.locks.hold(original.key.hash) { () throws(CacheError) in
            // Promoted by another process meanwhile: the next run compares the two.
            let earlier = try engine.ledger.entry(for: original.key)
            if earlier?.state == .intent { return .left(.keyIsTaken) }
            if let earlier, try files.existingFile(of: earlier) != nil { return .left(.keyIsTaken) }
            // One that is there already is adopted, and is the user's.
            let isInPlace = try original.isInPlace(as: target.name, in: place.folder)
            if isInPlace { intent.origin = .adopted }
            var isMarked = false
            defer { if isMarked { restoreMark(former, of: original) } }
            if !isInPlace {
                isMarked = true
                try onFiles { () throws(FileSystemError) in
                    try files.mark(original.file, target.backup, in: target.area, place.path)
                    try fileSystem.synchronize(original.file)
                }
            }
            guard try original.isUnchanged() else { return .left(.changed) }
            try engine.ledger.put(intent, replacing: earlier)
            let withdrawal = [LedgerChange(old: intent, new: earlier)]
            let entry: LedgerEntry
            do throws(CacheError) {
                // The file can stay: a second copy of one that may be identical would be worse.
                if isInPlace {
                    switch try promoter.publisher.adopt(
                        intent, in: place.folder, passingOverUnreadable: false, {})
                    {
                    case .isAdopted(let adopted): return .adopted(adopted.location)
                    case .isAnother(let failure?): throw failure
                    case .isAnother(nil), .isChanged, .isHeld:
                        try engine.ledger.make(withdrawal)
                        return .left(.changed)
                    }
                }
                entry = try promoter.publisher.publish(
                    intent, in: place.folder, passingOverUnreadable: false
                ) { entry throws(CacheError) in
                    try original.move(to: entry, in: place.folder)
                } discard: {
                }
            } catch .destination(_, let error) where error.errno == .staleNFSFileHandle {
                try engine.ledger.make(withdrawal)
                return .left(.changed)
            } catch {
                // Otherwise, whether it has its new name is determined when the intent is resolved.
                if try original.isUnchanged() {
                    try engine.ledger.make(withdrawal)
                } else {
                    isMarked = false
                }
                throw error
            }
            if entry.origin == .adopted {
                return try original.drop() ? .merged(entry.location) : .left(.changed)
            }
            isMarked = false
            // The source folder of the rename.
            try onFiles(fileSystem.synchronize(original.folder.descriptor))
            return .moved(entry.location)
        }
    }
}

extension Migrator {
    /// Gives a file that is left where it was the mark that it had.
    fileprivate func restoreMark(_ former: BackupPolicy, of original: Original) {
        do throws(FileSystemError) {
            try files.mark(original.file, former)
            try fileSystem.synchronize(original.file)
        } catch {
            engine.environment.logger.warning(
                "The backup mark of a file that was not migrated could not be restored.",
                metadata: ["key": "\(original.key)", "error": "\(error)"])
        }
    }
}

extension ItemFormatError {
    /// Whether the content is irrecoverable.
    fileprivate var isLoss: Bool {
        switch self {
        case .purged, .damaged: true
        default: false
        }
    }
}

extension Engine {
    /// Stores a file for a migration. Nothing is evicted for it, least of all items that it imported before: their
    /// originals are gone.
    fileprivate func takeIn(_ file: Descriptor, _ length: Int64, as metadata: ItemMetadata, isDryRun: Bool)
        throws
    {
        let report = try capacity()
        if let refusal = report.refusal { throw Migrator.Left(.refused(refusal)) }
        let needed = charge(
            storedBytes: ItemFooter.storedBytesBound(contentBytes: length, metadata: metadata))
        let used = report.chargedBytes + report.heldBytes + report.catalogBytes
        let (sum, overflow) = used.addingReportingOverflow(needed)
        if overflow || sum > Watermarks.high(report.ceilingBytes) {
            throw Migrator.Left(.refused(.overBudget(needed: needed, budget: report.ceilingBytes)))
        }
        guard !isDryRun else { return }
        switch try store(file, length, named: metadata.key.string, as: metadata) {
        case .refused(let refusal): throw Migrator.Left(.refused(refusal))
        case .delivered: throw Migrator.Left(.keyIsTaken)
        case .stored: break
        }
    }
}

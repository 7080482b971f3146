internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// One item that the user asked for, on its way straight to its destination.
///
/// Its content is written unencoded into a file in staging on the destination's volume, from which the files of a bundle
/// are taken at the end, and then goes through the second half of a promotion: intent, name, commit. Space is preallocated
/// on the volume before bytes are written, all of it when the length is known. Its whole chunks may be kept there when it is interrupted.
///
/// Used by one thread at a time. An object that is neither committed nor cancelled ends itself, by
/// ``suspendOrCancel()``.
final class Delivery: StoreUnderWay {
    /// How far ahead space is preallocated when the length is unknown, in bytes.
    private static let steps: ClosedRange<Int64> = 1 << 20...16 << 20

    private let engine: Engine
    private let metadata: ItemMetadata
    private let target: Destination
    private let whenPromoted: WhenPromoted
    /// The path of the folder that it goes to.
    private let path: FolderPath?
    private let staging: Directory
    private let name: String
    private let file: Descriptor
    private let expectedLength: Int64?
    /// Whether the whole chunks are kept when it is interrupted.
    private let keepsChunks: Bool
    /// Once there is a whole chunk that is kept.
    private var journal: (file: Descriptor, content: PartialJournal)?
    private var checksum = ContentChecksum()
    private var length: Int64 = 0
    /// The length for which room was made …
    private var reservedBytes: Int64 = 0
    /// … and the length that the volume has allocated.
    private var allocated: Int64 = 0
    private var step = steps.lowerBound
    private(set) var isFinished = false

    var contentBytes: Int64 { length }
    private var destination: FilePath { engine.destinations.path(of: target) }
    private var fileSystem: any FileSystem { engine.environment.fileSystem }

    /// - Parameters:
    ///   - expectedLength: Bytes of content, if known.
    ///   - keepingChunks: Whether its whole chunks are kept when it is interrupted, where the file system has locks.
    ///   - whenPromoted: What to do about an earlier promotion of the key, once the content is complete.
    /// - Throws: ``CacheError/insufficientSpace(needed:available:)``, ``CacheError/destination(_:_:)`` and
    ///   ``CacheError/destinationUnavailable(_:)``.
    init(
        _ engine: Engine, _ metadata: ItemMetadata, expectedLength: Int64?, keepingChunks: Bool,
        whenPromoted: WhenPromoted
    ) throws(CacheError) {
        self.engine = engine
        self.metadata = metadata.stored(at: engine.environment.now())
        self.expectedLength = expectedLength
        self.whenPromoted = whenPromoted
        try onItem(metadata.validate())
        // Created at once, so that an unwritable destination fails before the download.
        guard let target = metadata.destination else { throw .noDestination(metadata.key) }
        self.target = target
        let (folder, path) = try engine.destinations.destination(of: target)
        staging = try engine.destinations.stagingFolder(for: folder, target.area, path)
        self.path = path
        let isInMountPoint = path != nil && staging !== engine.destinations.support.staging
        if isInMountPoint {
            try engine.promoter.recovery.leftovers.sweep(staging)
        }
        do {
            let (name, file, isLocked) = try Self.create(for: target.area, in: staging) {
                engine.files.nextStagedName(metadata.key)
            }
            (self.name, self.file) = (name, file)
            // Staging folders in mount points are not searched.
            keepsChunks = keepingChunks && isLocked && !isInMountPoint
        } catch {
            throw .destination(engine.destinations.path(of: target), error)
        }
        if let expectedLength { try makeRoom(for: expectedLength) }
    }

    /// Creates a file that stays locked while it is open: the lock tells recovery that it is not a leftover.
    private static func create(
        for area: Area, in staging: Directory, named nextName: () -> String
    ) throws(FileSystemError) -> (name: String, file: Descriptor, isLocked: Bool) {
        let fileSystem = staging.fileSystem
        while true {
            let name = nextName()
            var isLocked = true
            let file = try fileSystem.open(
                FilePath(name), in: staging.descriptor, .createNew(CacheLayout.filePermissions(in: area))
            ) { file throws(FileSystemError) in
                do throws(FileSystemError) {
                    // A sweep may have locked it in between, to remove it.
                    guard try fileSystem.lock(file, waiting: false) else { return false }
                } catch {
                    guard error.isUnsupported else { throw error }
                    isLocked = false
                }
                return try fileSystem.attributes(of: file).linkCount > 0
            }
            if let file { return (name, file, isLocked) }
        }
    }

    /// Resumes a delivery that was interrupted, after its last sound chunk.
    ///
    /// - Parameter replay: Receives the kept content, in order.
    /// - Returns: `nil` when it is being written elsewhere, is gone, or nothing of it is sound; that is removed.
    /// - Throws: As ``init(_:_:expectedLength:keepingChunks:whenPromoted:)``. The partial stays.
    init?(
        _ engine: Engine, resuming place: StagedPartial, _ partial: ResumablePartial,
        whenPromoted: WhenPromoted, _ replay: (UnsafeRawBufferPointer) -> Void
    ) throws(CacheError) {
        guard let target = partial.metadata.destination else { return nil }
        let (folder, path) = try engine.destinations.destination(of: target)
        // A volume may have been mounted since.
        guard try onFiles(engine.destinations.support.isOneVolume(place.staging, folder)) else {
            try onFiles(place.remove())
            return nil
        }
        guard let file = try onFiles(place.lock()) else { return nil }
        var opened: (file: Descriptor, content: PartialJournal)?
        do {
            opened = try Self.openSound(place, file, engine, replay)
        } catch {
            engine.environment.fileSystem.unlock(file)
            throw error
        }
        guard let opened else {
            engine.environment.fileSystem.unlock(file)
            try onFiles(place.remove())
            return nil
        }
        self.engine = engine
        self.target = target
        self.file = file
        metadata = partial.metadata.stored(at: engine.environment.now())
        expectedLength = partial.expectedLength
        self.whenPromoted = whenPromoted
        keepsChunks = true
        (staging, name) = (place.staging, place.name.string)
        self.path = path
        (journal, length) = (opened, opened.content.contentBytes)
        checksum = ContentChecksum(after: opened.content.chunks)
        reservedBytes = length
        do {
            if let expectedLength { try makeRoom(for: max(expectedLength, length)) }
        } catch {
            suspendOrCancel()
            throw error
        }
    }

    /// Opens the journal of a locked file, and cuts both after the last sound chunk.
    ///
    /// - Returns: `nil` when nothing is sound.
    private static func openSound(
        _ place: StagedPartial, _ file: Descriptor, _ engine: Engine,
        _ replay: (UnsafeRawBufferPointer) -> Void
    ) throws(CacheError) -> (file: Descriptor, content: PartialJournal)? {
        let fileSystem = engine.environment.fileSystem
        guard var journal = try onFiles(place.openJournal()) else { return nil }
        do {
            journal.content.cut(toStoredLength: try onFiles(fileSystem.attributes(of: file).length))
            let sound = try onItem(
                journal.content.verify(in: file, of: fileSystem, codecs: engine.codecs, handing: replay))
            if sound > 0 {
                journal.content.cut(to: sound)
                try onFiles { () throws(FileSystemError) in
                    try fileSystem.resize(file, to: journal.content.storedBytes)
                    try fileSystem.resize(journal.file, to: journal.content.length)
                    try PartialHead.write(
                        writer: 0, keptAt: engine.environment.now(), to: journal.file, in: fileSystem)
                }
                return journal
            }
        } catch {
            fileSystem.close(journal.file)
            throw error
        }
        fileSystem.close(journal.file)
        return nil
    }

    deinit {
        suspendOrCancel()
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal? {
        guard !isFinished else { throw .writerIsFinished }
        do {
            let end = length + Int64(bytes.count)
            if end > reservedBytes {
                do {
                    try makeRoom(for: max(end, reservedBytes + step))
                } catch .insufficientSpace {
                    // The item may fit where a whole step does not.
                    try makeRoom(for: end)
                }
                step = min(step * 2, Self.steps.upperBound)
            }
            try write(bytes)
            return nil
        } catch {
            throw ended(by: error)
        }
    }

    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome {
        guard !isFinished else { throw .writerIsFinished }
        do {
            let end = length + Int64(last.count)
            if end > reservedBytes { try makeRoom(for: end) }
            try write(last)
            try onItem(metadata.requireLength(length))
            try makeDurable()
        } catch {
            throw ended(by: error)
        }
        // From here on the content is durable: after a failure, recovery completes it or, without an intent,
        // removes it, unless its chunks are kept. The lock is held until then.
        isFinished = true
        defer { close() }
        let opened = try engine.promoter.deliver(
            entry(), from: staging, whenPromoted: whenPromoted, unpacking: metadata.parts.isEmpty ? nil : file
        )
        removeRest()
        guard let opened else {
            return .refused(engine.refused(.alreadyPromoted, metadata.key, from: metadata.source))
        }
        engine.noteOpen(opened)
        if opened.isFirstOpen {
            engine.history.record(
                UsageEvent(
                    kind: .delivered, key: opened.key.string, source: opened.provenance?.source ?? "",
                    contentBytes: opened.contentBytes))
        }
        return .delivered(opened)
    }

    /// Removes the journal, and the staged file of a bundle.
    private func removeRest() {
        do {
            if !metadata.parts.isEmpty { try engine.files.discard(partial.name, in: staging) }
            if journal != nil { try engine.files.discard(partial.journalName, in: staging) }
        } catch {
            // The next process that opens the cache removes it: its file is gone, or older than the promotion.
            warn("What is left of a delivery could not be removed.", error)
        }
    }

    /// Discards the content after an error. If there is too little space, the error says what the whole content needs, as far
    /// as it is known, and has.
    private func ended(by error: CacheError) -> CacheError {
        let present = max(length, allocated)
        cancel()
        guard case .insufficientSpace(let needed, let available) = error else { return error }
        return .insufficientSpace(needed: present + needed, available: present + available)
    }

    func cancel() {
        guard !isFinished else { return }
        isFinished = true
        defer { close() }
        do {
            try engine.files.discard(partial.name, in: staging)
            removeRest()
        } catch {
            // Its name contains this session: the next process that opens the cache removes it.
            warn("A staged file could not be removed.", error)
        }
    }

    /// Ends the delivery, and returns to the volume what was allocated for the rest.
    func suspend() throws(CacheError) -> ResumablePartial? {
        guard !isFinished else { throw .writerIsFinished }
        guard let journal else {
            cancel()
            return nil
        }
        do {
            try onFiles { () throws(FileSystemError) in
                try fileSystem.resize(file, to: journal.content.storedBytes)
                try PartialHead.write(
                    writer: 0, keptAt: engine.environment.now(), to: journal.file, in: fileSystem)
            }
        } catch {
            cancel()
            throw error
        }
        isFinished = true
        close()
        return ResumablePartial(journal.content)
    }

    var logger: Logger { engine.environment.logger }

    private var partial: StagedPartial {
        StagedPartial(staging: staging, name: FilePath(name), hash: metadata.key.hash)
    }

    private func close() {
        fileSystem.unlock(file)
        if let journal { fileSystem.close(journal.file) }
        journal = nil
    }

    private func warn(_ message: Logger.Message, _ error: CacheError) {
        logger.warning(message, metadata: ["error": "\(error)"])
    }

    /// Makes sure that the file can grow to `end` bytes, and allocates the space if the file system supports
    /// that.
    private func makeRoom(for end: Int64) throws(CacheError) {
        // The longest file of a bundle is there twice while it gets a file of its own.
        let unpacked = metadata.parts.longest
        try engine.admission.makeImportantRoom(end - max(length, allocated) + unpacked, in: staging)
        reservedBytes = end
        // Not worth a call for a small file, which is written at once.
        guard end > Self.steps.lowerBound else { return }
        try retryingAfterEviction(for: end - length) { () throws(FileSystemError) in
            do throws(FileSystemError) {
                try fileSystem.allocate(end, for: file)
                allocated = end
            } catch {
                guard error.isUnsupported else { throw error }
            }
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
        try retryingAfterEviction(for: max(reservedBytes - length, Int64(bytes.count))) {
            () throws(FileSystemError) in
            try fileSystem.writeAll(bytes, to: file, at: length)
        }
        checksum.update(bytes)
        length += Int64(bytes.count)
        guard keepsChunks, checksum.chunks.count > journal?.content.chunks.count ?? 0 else { return }
        try retryingAfterEviction(for: 0) { () throws(FileSystemError) in
            try noteChunks()
        }
    }

    /// Records the whole chunks that were written since the last call.
    private func noteChunks() throws(FileSystemError) {
        if journal == nil {
            let generation = Array("\(engine.environment.session) \(name)".utf8)
                .withUnsafeBytes { Checksum.of($0) }
            let content = PartialJournal(
                metadata: metadata, encoding: .identity, expectedLength: expectedLength,
                generation: generation)
            let journal = try fileSystem.open(
                partial.journalName, in: staging.descriptor, .createNew(CacheLayout.filePermissions))
            self.journal = (journal, content)
        }
        guard var journal else { return }
        if journal.content.chunks.isEmpty {
            try journal.content.begin(
                journal.file, in: fileSystem, writer: 0, keptAt: engine.environment.now())
        }
        try journal.content.append(
            checksum.chunks[journal.content.chunks.count...], to: journal.file, in: fileSystem)
        self.journal = journal
    }

    /// Writes, and retries after evicting items when there is no room although the volume reported some.
    private func retryingAfterEviction(
        for needed: Int64, _ body: () throws(FileSystemError) -> Void
    ) throws(CacheError) {
        do {
            try engine.admission.retryingAfterEviction(for: needed, in: staging) { () throws(CacheError) in
                do throws(FileSystemError) {
                    try body()
                } catch {
                    throw .destination(destination, error)
                }
            }
        } catch {
            throw try failure(error, needed: needed)
        }
    }

    private func failure(_ error: CacheError, needed: Int64) throws(CacheError) -> CacheError {
        guard error.isOutOfSpace else { return error }
        return .insufficientSpace(
            needed: needed, available: try engine.admission.watch.available(in: staging))
    }

    private func makeDurable() throws(CacheError) {
        do {
            // Returns the space that was preallocated but not needed.
            if allocated > length { try fileSystem.resize(file, to: length) }
            try engine.files.mark(file, target.backup, in: target.area, path)
            try fileSystem.synchronize(file)
            try fileSystem.synchronize(staging.descriptor)
        } catch {
            throw try failure(.destination(destination, error), needed: length)
        }
    }

    private func entry() throws(CacheError) -> LedgerEntry {
        let now = engine.environment.now()
        return LedgerEntry(
            key: metadata.key, state: .intent, mode: .decode, area: target.area,
            folder: path, name: target.name,
            plainName: target.name, backup: target.backup, contentBytes: length,
            contentChecksum: checksum.finalize(), stagedName: name,
            inode: try engine.files.attributes(of: file).identity.inode,
            birthTime: try engine.files.birthTime(of: file), openedAt: now,
            provenance: Provenance(metadata, storedAt: now), parts: metadata.parts)
    }
}

internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// One item that the user asked for, on its way straight to its destination.
///
/// Its content is written unencoded into staging on the destination's volume, and then goes through the second half of
/// a promotion: intent, name, commit. Space is preallocated on the volume before bytes are written, all of it when the
/// length is known.
///
/// Used by one thread at a time. An object that is neither committed nor cancelled cancels itself.
final class Delivery: StoreUnderWay {
    /// How far ahead space is preallocated when the length is unknown, in bytes.
    private static let steps: ClosedRange<Int64> = 1 << 20...16 << 20

    private let engine: Engine
    private let metadata: ItemMetadata
    private let target: Destination
    private let forgetsPromotion: Bool
    /// The path of the folder that it goes to.
    private let path: FolderPath?
    private let staging: Directory
    private let name: String
    private let file: Descriptor
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
    ///   - forgettingPromotion: Whether an earlier promotion of the key is forgotten once the file is
    ///     complete.
    /// - Throws: ``CacheError/insufficientSpace(needed:available:)``, ``CacheError/destination(_:_:)`` and
    ///   ``CacheError/destinationUnavailable(_:)``.
    init(
        _ engine: Engine, _ metadata: ItemMetadata, expectedLength: Int64?, forgettingPromotion: Bool
    ) throws(CacheError) {
        self.engine = engine
        self.metadata = metadata
        forgetsPromotion = forgettingPromotion
        try onItem(metadata.validate())
        // Created at once, so that an unwritable destination fails before the download.
        guard let target = metadata.destination else { throw .noDestination(metadata.key) }
        self.target = target
        let (folder, path) = try engine.destinations.destination(of: target)
        staging = try engine.destinations.stagingFolder(for: folder, target.area, path)
        self.path = path
        if path != nil, staging !== engine.destinations.support.staging {
            try engine.promoter.recovery.leftovers.sweep(staging)
        }
        do {
            (name, file) = try Self.create(in: staging) { engine.files.nextStagedName(metadata.key) }
        } catch {
            throw .destination(engine.destinations.path(of: target), error)
        }
        if let expectedLength { try makeRoom(for: expectedLength) }
    }

    /// Creates a file that stays locked while it is open: the lock tells recovery that it is not a leftover.
    private static func create(
        in staging: Directory, named nextName: () -> String
    ) throws(FileSystemError) -> (name: String, file: Descriptor) {
        let fileSystem = staging.fileSystem
        while true {
            let name = nextName()
            let file = try fileSystem.open(
                FilePath(name), in: staging.descriptor, .createNew(CacheLayout.filePermissions)
            ) { file throws(FileSystemError) in
                // A sweep may have locked it in between, to remove it.
                guard try fileSystem.lockIfSupported(file) else { return false }
                return try fileSystem.attributes(of: file).linkCount > 0
            }
            if let file { return (name, file) }
        }
    }

    deinit {
        if !isFinished { cancel() }
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
            cancel()
            throw error
        }
    }

    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome {
        guard !isFinished else { throw .writerIsFinished }
        do {
            let end = length + Int64(last.count)
            if end > reservedBytes { try makeRoom(for: end) }
            try write(last)
            try makeDurable()
        } catch {
            cancel()
            throw error
        }
        // From here on the content is durable: after a failure, recovery completes it or, without an intent,
        // removes it. The lock is held until then.
        isFinished = true
        defer { fileSystem.close(file) }
        let opened = try engine.promoter.deliver(entry(), from: staging, isAnew: forgetsPromotion)
        engine.noteOpen(opened)
        if opened.isFirstOpen {
            engine.history.record(
                UsageEvent(
                    kind: .delivered, key: opened.key.string, source: opened.provenance?.source ?? "",
                    contentBytes: opened.contentBytes))
        }
        return .delivered(opened)
    }

    func cancel() {
        guard !isFinished else { return }
        isFinished = true
        fileSystem.close(file)
        do {
            try engine.files.discard(FilePath(name), in: staging)
        } catch {
            // Its name contains this session: the next process that opens the cache removes it.
            engine.environment.logger.warning(
                "A staged file could not be removed.", metadata: ["error": "\(error)"])
        }
    }

    /// Makes sure that the file can grow to `end` bytes, and allocates the space if the file system supports
    /// that.
    private func makeRoom(for end: Int64) throws(CacheError) {
        try engine.admission.makeImportantRoom(end - max(length, allocated), in: staging)
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
            provenance: Provenance(metadata, storedAt: now))
    }
}

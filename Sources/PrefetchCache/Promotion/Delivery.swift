internal import FileSystem
internal import ItemFormat
internal import Logging
internal import StorageAreas
internal import SystemPackage

/// One item that the user asked for, on its way straight to its destination.
///
/// It is written as it is into staging, on the destination's volume, and then takes the second half of
/// a promotion's way: intent, name, commit. Space is set aside on the volume before bytes are written,
/// all of it when the length is known.
///
/// Used by one thread at a time. An object that is neither committed nor cancelled cancels itself.
final class Delivery: StoreUnderWay {
    /// How far ahead space is set aside when the length is unknown.
    private static let steps: ClosedRange<Int64> = 1 << 20...16 << 20

    private let engine: Engine
    private let metadata: ItemMetadata
    private let folder: Directory
    private let staging: Directory
    private let name: String
    private let file: Descriptor
    private var checksum = ContentChecksum()
    private var length: Int64 = 0
    private var setAside: Int64 = 0
    private var step = steps.lowerBound
    private var isFinished = false

    private var promoter: Promoter { engine.promoter }
    private var destination: FilePath { promoter.path(of: metadata.destination) }
    private var fileSystem: any FileSystem { engine.environment.fileSystem }

    /// - Parameter expectedLength: Bytes of content, when known.
    /// - Throws: ``CacheError/insufficientSpace(needed:available:)``.
    init(_ engine: Engine, _ metadata: ItemMetadata, expectedLength: Int64?) throws(CacheError) {
        self.engine = engine
        self.metadata = metadata
        try onItem { () throws(ItemFormatError) in try metadata.validate() }
        let area = metadata.destination.area
        folder = try engine.promoter.destination(in: area)
        staging = try engine.promoter.stagingFolder(for: folder, area)
        name = engine.promoter.nextStagedName(metadata.key)
        if let expectedLength {
            try engine.admission.makeImportantRoom(expectedLength, in: staging)
        }
        do {
            file = try Self.create(name, in: staging)
        } catch {
            throw .destination(engine.promoter.path(of: metadata.destination), error)
        }
        if let expectedLength { try setAside(expectedLength) }
    }

    /// Makes a file that is locked for as long as it is open, by which recovery knows that it is no
    /// leftover.
    private static func create(_ name: String, in staging: Directory) throws(FileSystemError) -> Descriptor {
        let fileSystem = staging.fileSystem
        while true {
            let file = try fileSystem.open(
                FilePath(name), in: staging.descriptor, .createNew(CacheLayout.filePermissions))
            do {
                // Somebody who cleans up may have locked and removed it in between.
                if try fileSystem.lock(file, waiting: true), try fileSystem.attributes(of: file).linkCount > 0
                {
                    return file
                }
            } catch {
                if error.isUnsupported { return file }
                fileSystem.close(file)
                throw error
            }
            fileSystem.close(file)
        }
    }

    deinit {
        if !isFinished { cancel() }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal? {
        guard !isFinished else { throw .writerIsFinished }
        do {
            let end = length + Int64(bytes.count)
            if end > setAside { try makeRoom(upTo: end) }
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
            if length + Int64(last.count) > setAside {
                try engine.admission.makeImportantRoom(length + Int64(last.count) - setAside, in: staging)
            }
            try write(last)
            try makeDurable()
            let opened = try promoter.deliver(entry(), from: staging, in: folder)
            isFinished = true
            fileSystem.close(file)
            return .delivered(engine.delivered(opened))
        } catch {
            cancel()
            throw error
        }
    }

    func cancel() {
        guard !isFinished else { return }
        isFinished = true
        fileSystem.close(file)
        do {
            try promoter.discard(FilePath(name), in: staging)
        } catch {
            // It lies under this process's name, and goes when the next process starts.
            engine.environment.logger.warning("A staged file stays behind.", metadata: ["error": "\(error)"])
        }
    }

    private func makeRoom(upTo end: Int64) throws(CacheError) {
        do {
            let ahead = max(end, setAside + step)
            try engine.admission.makeImportantRoom(ahead - setAside, in: staging)
            try setAside(ahead)
            step = min(step * 2, Self.steps.upperBound)
        } catch .insufficientSpace {
            // Where a whole step does not fit, the item may.
            try engine.admission.makeImportantRoom(end - setAside, in: staging)
            try setAside(end)
        }
    }

    /// Sets space aside as far as the file system can do that; where it cannot, the volume was asked.
    private func setAside(_ bytes: Int64) throws(CacheError) {
        // A small file is written before anybody else could take its space.
        if bytes > Self.steps.lowerBound {
            do {
                try fileSystem.allocate(bytes, for: file)
            } catch {
                guard error.isUnsupported else { throw try failure(error, needed: bytes - length) }
            }
        }
        setAside = bytes
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
        do {
            try fileSystem.writeAll(bytes, to: file, at: length)
        } catch {
            throw try failure(error, needed: max(setAside - length, Int64(bytes.count)))
        }
        checksum.update(bytes)
        length += Int64(bytes.count)
    }

    private func failure(_ error: FileSystemError, needed: Int64) throws(CacheError) -> CacheError {
        guard error.isOutOfSpace else { return .destination(destination, error) }
        let capacity = try engine.admission.watch.volume(of: staging)
        return .insufficientSpace(needed: needed, available: capacity.available)
    }

    private func makeDurable() throws(CacheError) {
        do {
            // What was set aside and not needed goes back.
            if setAside > length { try fileSystem.resize(file, to: length) }
            try promoter.mark(file, metadata.destination.backup)
            try fileSystem.synchronize(file)
            try fileSystem.synchronize(staging.descriptor)
        } catch {
            throw try failure(error, needed: length)
        }
    }

    private func entry() throws(CacheError) -> LedgerEntry {
        LedgerEntry(
            key: metadata.key, state: .intent, mode: .decode, area: metadata.destination.area,
            name: metadata.destination.name, backup: metadata.destination.backup, contentLength: length,
            contentChecksum: checksum.finalize(), stagedName: name,
            inode: try promoter.attributes(of: file).identity.inode, openedAt: engine.environment.now())
    }
}

internal import FileSystem
internal import ItemFormat
internal import Logging
internal import SystemPackage

/// One item on its way into the cache: a partial file in `incoming/`, and the space reserved for it.
///
/// Used by one thread at a time. An object that is neither committed nor cancelled cancels itself.
final class ItemStore: StoreUnderWay {
    private let engine: Engine
    private let metadata: ItemMetadata
    private let reservation: Reservation
    private let incoming: Directory
    private let partial: FilePath
    private let file: Descriptor
    private let writer: ItemWriter
    private var isFinished = false

    init(
        _ engine: Engine, _ metadata: ItemMetadata, encoding: EncodingChoice, reservation: Reservation
    ) throws(CacheError) {
        self.engine = engine
        self.metadata = metadata
        self.reservation = reservation
        do {
            (incoming, partial, file) = try Self.createPartial(engine)
        } catch {
            reservation.release()
            throw error
        }
        do throws(ItemFormatError) {
            writer = try ItemWriter(
                file, of: engine.environment.fileSystem, codecs: engine.codecs, metadata: metadata,
                encoding: encoding
            ) { length throws(ItemFormatError) in try reservation.cover(storedLength: length) }
        } catch {
            engine.environment.fileSystem.close(file)
            try Self.remove(partial, in: incoming)
            reservation.release()
            throw .item(error)
        }
    }

    deinit {
        if !isFinished { cancel() }
    }

    /// Bytes of content taken so far.
    var contentLength: Int64 { writer.contentLength }

    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal? {
        try writing { () throws(ItemFormatError) in try writer.append(bytes) }
    }

    /// Puts the item in its place, where it replaces an older one.
    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome {
        var summary: ItemSummary?
        reservation.isLengthKnown = true
        let refusal = try writing { () throws(ItemFormatError) in
            summary = try writer.finish(appending: last)
        }
        guard let summary else {
            guard let refusal else { throw .writerIsFinished }
            return .refused(refusal)
        }
        let row = CatalogRow(
            metadata, encoding: summary.encoding, contentLength: summary.contentLength,
            storedLength: summary.storedLength,
            chargedLength: engine.charge(storedLength: summary.storedLength))
        do {
            try engine.locks.hold(metadata.key.hash) { () throws(CacheError) in
                try publish()
                engine.catalog.noteStored(row, reserved: reservation.take())
            }
        } catch {
            cancel()
            guard error.isOutOfSpace else { throw error }
            return .refused(engine.refused(.full, metadata.key))
        }
        isFinished = true
        engine.environment.fileSystem.close(file)
        engine.events.send(.stored(metadata.key, summary))
        return .stored(summary)
    }

    /// Gives the item up: the partial is removed and its space released.
    func cancel() {
        guard !isFinished else { return }
        isFinished = true
        engine.environment.fileSystem.close(file)
        do {
            try Self.remove(partial, in: incoming)
            reservation.release()
        } catch {
            // It lies under this process's name, and goes when this process is gone and the next one
            // sweeps. Until then it takes its space, and stays charged.
            engine.environment.logger.warning("A partial stays behind.", metadata: ["error": "\(error)"])
        }
    }

    private func writing(_ body: () throws(ItemFormatError) -> Void) throws(CacheError) -> Refusal? {
        guard !isFinished else { throw .writerIsFinished }
        do {
            try body()
            return nil
        } catch .notAdmitted {
            cancel()
            return engine.refused(try reservation.denial(), metadata.key)
        } catch {
            cancel()
            guard case .fileSystem(let error) = error else { throw .item(error) }
            guard error.isOutOfSpace else { throw .fileSystem(error) }
            return engine.refused(.full, metadata.key)
        }
    }
}

extension ItemStore {
    private static func createPartial(_ engine: Engine) throws(CacheError) -> (
        Directory, FilePath, Descriptor
    ) {
        let name = engine.session.nextPartial()
        let incoming = engine.folders.current.incoming
        let file = try onFiles { () throws(FileSystemError) in
            try engine.environment.fileSystem.open(
                name, in: incoming.descriptor, .createNew(CacheLayout.filePermissions))
        }
        return (incoming, name, file)
    }

    private static func remove(_ partial: FilePath, in incoming: Directory) throws(CacheError) {
        do {
            try incoming.fileSystem.unlink(partial, in: incoming.descriptor)
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
        }
    }

    /// Renames the partial to its place. An older item of the key is swapped out and then removed,
    /// so that there is no moment without an item.
    private func publish() throws(CacheError) {
        let fileSystem = engine.environment.fileSystem
        let target = CacheLayout.file(of: metadata.key.hash)
        let items = engine.folders.current.items
        do throws(FileSystemError) {
            do throws(FileSystemError) {
                try rename(to: target, in: items, .exclusive)
            } catch {
                guard error.isNotFound else { throw error }
                _ = try fileSystem.makeDirectory(
                    CacheLayout.folder(of: metadata.key.hash), in: items.descriptor,
                    permissions: CacheLayout.folderPermissions)
                try rename(to: target, in: items, .exclusive)
            }
        } catch {
            guard error.errno == .fileExists else { throw .fileSystem(error) }
            try onFiles { () throws(FileSystemError) in try replace(target, in: items) }
        }
    }

    private func replace(_ target: FilePath, in items: Directory) throws(FileSystemError) {
        do {
            try rename(to: target, in: items, .exchanging)
        } catch {
            // Evicted in the meantime, or a file system that cannot exchange.
            guard error.isNotFound || error.isUnsupported else { throw error }
            return try rename(to: target, in: items, .replacing)
        }
        do {
            try engine.environment.fileSystem.unlink(partial, in: incoming.descriptor)
        } catch {
            guard !error.isNotFound else { return }
            // An old file that stays is to be charged, and as the item it is.
            try rename(to: target, in: items, .exchanging)
            throw error
        }
    }

    private func rename(to target: FilePath, in items: Directory, _ mode: RenameMode) throws(FileSystemError)
    {
        try engine.environment.fileSystem.rename(
            partial, in: incoming.descriptor, to: target, in: items.descriptor, mode)
    }
}

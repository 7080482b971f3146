internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The promotion of a key whose record ends when a newer item of the key is published.
enum ReplacedPromotion {
    /// There is none.
    case none
    /// This one, whose file is gone.
    case lost(LedgerEntry)
    /// Whichever there is, at the caller's request.
    case any
}

/// One item on its way into the cache: a partial file in `incoming/`, and the space reserved for it.
///
/// Used by one thread at a time. An object that is neither committed nor cancelled ends itself, by
/// ``suspendOrCancel()``.
final class ItemUnderWay: StoreUnderWay {
    private let engine: Engine
    private let metadata: ItemMetadata
    private let reservation: Reservation
    private let incoming: Directory
    private let file: Descriptor
    private let writer: ItemWriter
    /// The name of the partial as it was created …
    private let ordinaryName: FilePath
    /// … which ``PartialKeeper`` may have changed.
    private let keeper: PartialKeeper?
    private var isFinished = false
    /// The promotion whose record ends when the item is published.
    var replaced = ReplacedPromotion.none

    init(
        _ engine: Engine, _ metadata: ItemMetadata, encoding: EncodingChoice, reservation: Reservation,
        keeping: (isWanted: Bool, expectedLength: Int64?)
    ) throws(CacheError) {
        self.engine = engine
        self.metadata = metadata
        self.reservation = reservation
        do {
            (incoming, ordinaryName, file) = try Self.createPartial(engine)
        } catch {
            reservation.release()
            throw error
        }
        let keeper =
            keeping.isWanted
            ? PartialKeeper(
                engine, metadata, expectedLength: keeping.expectedLength, reservation: reservation,
                in: incoming, name: ordinaryName) : nil
        self.keeper = keeper
        do throws(ItemFormatError) {
            writer = try ItemWriter(
                file, of: engine.environment.fileSystem, codecs: engine.codecs, metadata: metadata,
                encoding: encoding, boot: engine.boot,
                noting: { chunks, encoding throws(ItemFormatError) in try keeper?.note(chunks, encoding) }
            ) { length throws(ItemFormatError) in try reservation.cover(storedBytes: length) }
        } catch {
            engine.environment.fileSystem.close(file)
            try Self.remove(ordinaryName, in: incoming)
            reservation.release()
            throw .item(error)
        }
    }

    /// Resumes a partial that was taken over and verified. After an error the partial is still the caller's.
    ///
    /// - Parameter journal: Lists only the sound chunks, which is what the file holds.
    init(
        _ engine: Engine, resuming partial: TakenPartial, _ journal: PartialJournal, file: Descriptor,
        reservation: Reservation
    ) throws(CacheError) {
        self.engine = engine
        self.reservation = reservation
        self.file = file
        var metadata = journal.metadata
        metadata.storedAt = engine.environment.now()
        self.metadata = metadata
        incoming = partial.files.incoming
        ordinaryName = CacheLayout.keptPartial(of: metadata.key.hash)
        let keeper = PartialKeeper(engine, resuming: partial, journal, reservation)
        self.keeper = keeper
        do {
            writer = try ItemWriter(
                file, of: engine.environment.fileSystem, codecs: engine.codecs, metadata: metadata,
                boot: engine.boot, after: journal,
                noting: { chunks, encoding throws(ItemFormatError) in try keeper.note(chunks, encoding) }
            ) { length throws(ItemFormatError) in try reservation.cover(storedBytes: length) }
        } catch {
            throw .item(error)
        }
    }

    deinit {
        if !isFinished { suspendOrCancel() }
    }

    private var promoter: Promoter { engine.promoter }
    private var partial: FilePath { keeper?.name ?? ordinaryName }

    var contentBytes: Int64 { writer.contentBytes }

    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal? {
        try writing { () throws(ItemFormatError) in try writer.append(bytes) }
    }

    /// Publishes the item, replacing an older one.
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
            metadata, encoding: summary.encoding, contentBytes: summary.contentBytes,
            storedBytes: summary.storedBytes,
            chargedBytes: engine.charge(storedBytes: summary.storedBytes))
        do {
            guard try place(row) else {
                cancel()
                return .refused(engine.refused(.alreadyPromoted, metadata.key))
            }
        } catch {
            cancel()
            guard error.isOutOfSpace else { throw error }
            return .refused(engine.refused(.full, metadata.key))
        }
        isFinished = true
        engine.environment.fileSystem.close(file)
        keeper?.close()
        engine.events.send(.stored(metadata.key, summary))
        return .stored(summary)
    }

    /// Publishes the item, unless its key was promoted since the store began.
    ///
    /// - Returns: Whether it is in the cache now.
    private func place(_ row: CatalogRow) throws(CacheError) -> Bool {
        let key = metadata.key
        switch replaced {
        case .none:
            let isPromoted = try engine.locks.hold(key.hash) { () throws(CacheError) in
                try publish()
                removeJournal()
                // A promotion commits before it removes the cached copy, and a store publishes before it checks for a
                // promotion: at least one of them sees the other.
                let isPromoted = Result { () throws(CacheError) in
                    try engine.promotedEntry(key)?.state == .committed
                }
                if case .success(false) = isPromoted {
                    engine.catalog.noteStored(row, reserved: reservation.take())
                }
                return isPromoted
            }
            if case .success(false) = isPromoted { return true }
            // Only this file: the key may have been forgotten and stored again since.
            try engine.cachedCopies.remove(key, engine.files.attributes(of: file).identity)
            return try !isPromoted.get()
        case .lost(let entry): return try replacePromotion(lost: entry, by: row)
        case .any: return try replacePromotion(lost: nil, by: row)
        }
    }

    private func replacePromotion(lost: LedgerEntry?, by row: CatalogRow) throws(CacheError) -> Bool {
        try promoter.replacePromotion(of: metadata.key, lost: lost) { () throws(CacheError) in
            try engine.locks.hold(metadata.key.hash) { () throws(CacheError) in
                try publish()
                removeJournal()
                engine.catalog.noteStored(row, reserved: reservation.take())
            }
        }
    }

    /// Ends the store, removes the partial and releases its space.
    func cancel() {
        guard !isFinished else { return }
        isFinished = true
        engine.environment.fileSystem.close(file)
        defer { keeper?.close() }
        do {
            try remove()
            reservation.release()
        } catch {
            // Its name contains this session, so the first sweep after this process has ended removes it. Until then it
            // stays charged.
            engine.environment.logger.warning(
                "A partial could not be removed.", metadata: ["error": "\(error)"])
        }
    }

    private func remove() throws(CacheError) {
        guard let keeper, keeper.kept != nil else { return try Self.remove(partial, in: incoming) }
        let hash = metadata.key.hash
        try engine.locks.hold(hash.ofPartial) { () throws(CacheError) in
            try Self.remove(partial, in: incoming)
            try onFiles(keeper.removeJournal())
            engine.catalog.notePartialGone(hash)
        }
    }

    /// The item is already published: a journal that cannot be removed stays charged until a sweep after this process
    /// has ended.
    private func removeJournal() {
        guard let keeper else { return }
        do {
            try keeper.removeJournal()
        } catch {
            reservation.leaveJournalBytes()
            engine.environment.logger.warning(
                "A journal could not be removed.", metadata: ["error": "\(error)"])
        }
    }

    func suspend() throws(CacheError) -> ResumablePartial? {
        guard !isFinished else { throw .writerIsFinished }
        guard let keeper, let kept = keeper.kept else {
            cancel()
            return nil
        }
        do {
            try engine.locks.hold(metadata.key.hash.ofPartial) { () throws(CacheError) in
                let row = try onFiles { () throws(FileSystemError) in
                    // Of several chunks written at once, those before a refused one are in the file and not in the
                    // journal. A file that is longer than its row would count as resumed by another writer.
                    if writer.storedBytes > keeper.storedBytes {
                        try engine.environment.fileSystem.resize(file, to: keeper.storedBytes)
                    }
                    return try keeper.suspend()
                }
                guard let row else { return }
                engine.catalog.noteKept(row, reserved: reservation.take())
            }
        } catch {
            cancel()
            throw error
        }
        isFinished = true
        engine.environment.fileSystem.close(file)
        keeper.close()
        return kept
    }

    func suspendOrCancel() {
        guard !isFinished else { return }
        do {
            _ = try suspend()
        } catch {
            engine.environment.logger.warning("A partial could not be kept.", metadata: ["error": "\(error)"])
        }
    }

    /// Ends a store for which there is no more room.
    private func endForLackOfSpace() throws(CacheError) -> Refusal {
        let refusal: Refusal
        do {
            refusal = engine.refused(try reservation.denial(), metadata.key)
        } catch {
            cancel()
            throw error
        }
        switch refusal {
        // A partial that can never fit is useless, and a full volume needs the space.
        case .largerThanLargestItem, .full: cancel()
        default: suspendOrCancel()
        }
        engine.admission.releaseAdvance()
        return refusal
    }

    private func writing(_ body: () throws(ItemFormatError) -> Void) throws(CacheError) -> Refusal? {
        guard !isFinished else { throw .writerIsFinished }
        do {
            try body()
            return nil
        } catch .notAdmitted {
            return try endForLackOfSpace()
        } catch {
            cancel()
            guard case .fileSystem(let error) = error else { throw .item(error) }
            guard error.isOutOfSpace else { throw .fileSystem(error) }
            engine.admission.releaseAdvance()
            return engine.refused(.full, metadata.key)
        }
    }
}

extension ItemUnderWay {
    private static func createPartial(_ engine: Engine) throws(CacheError) -> (
        Directory, FilePath, Descriptor
    ) {
        let name = engine.session.nextPartial()
        let incoming = engine.folders.current.incoming
        let file = try onFiles(
            engine.environment.fileSystem.open(
                name, in: incoming.descriptor, .createNew(CacheLayout.filePermissions)))
        return (incoming, name, file)
    }

    private static func remove(_ partial: FilePath, in incoming: Directory) throws(CacheError) {
        do {
            try incoming.fileSystem.unlink(partial, in: incoming.descriptor)
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
        }
    }

    private func publish() throws(CacheError) {
        let publication = Publication(
            of: metadata.key.hash, partial: partial, in: incoming, engine.environment.fileSystem)
        do {
            try publication.publish(in: engine.folders.current)
        } catch {
            // The system may have purged the folder of the items but not the partial.
            guard case .fileSystem(let reason) = error, reason.isNotFound, try engine.folders.repair() else {
                throw error
            }
            try publication.publish(in: engine.folders.current)
        }
    }
}

internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The promotion of a key whose record ends when a newer item of the key is published.
enum ReplacedPromotion {
    /// There is none.
    case absent
    /// This one, whose file is gone.
    case lost(LedgerEntry)
    /// Whichever there is, at the caller's request.
    case any
    /// The file is there, and a newer version takes its place if the user has not changed it.
    case present
    /// One that is being abandoned, by a caller that holds the lock of the key.
    case abandoned

    var isPresent: Bool {
        if case .present = self { true } else { false }
    }

    /// What to do about a promotion that is there when content is to be delivered: one that has come meanwhile stays.
    var onDelivery: WhenPromoted {
        switch self {
        case .present: .replaceIfUnmodified
        case .any: .storeAgain
        case .absent, .lost, .abandoned: .leave
        }
    }
}

/// One item on its way into the cache: content is encoded into a partial, which is published when it is complete.
///
/// Used by one thread at a time. An object that is neither committed nor cancelled ends itself, by
/// ``suspendOrCancel()``.
final class ItemUnderWay: StoreUnderWay {
    private let engine: Engine
    private let partial: HeldPartial
    private let file: Descriptor
    private let writer: ItemWriter
    private let replaced: ReplacedPromotion

    /// - Parameters:
    ///   - partial: New, or to be continued after the chunks of its journal, which are all that its file holds.
    ///   - file: Its open file.
    ///   - present: Describes the whole chunks that the file has, if the partial has no journal.
    ///   - replaced: The promotion whose record ends when the item is published.
    init(
        _ engine: Engine, in partial: HeldPartial, _ file: Descriptor, encoding: EncodingChoice = .automatic,
        after present: PartialJournal? = nil, replacing replaced: ReplacedPromotion
    ) throws(CacheError) {
        self.engine = engine
        self.partial = partial
        self.file = file
        self.replaced = replaced
        writer = try onItem(
            ItemWriter(
                file, of: engine.environment.fileSystem, codecs: engine.codecs, metadata: partial.metadata,
                encoding: encoding, boot: engine.boot, after: partial.journal ?? present,
                noting: { try partial.note($0, $1) },
                admit: { try partial.reservation.cover(storedBytes: $0) }))
    }

    deinit {
        suspendOrCancel()
    }

    private var metadata: ItemMetadata { partial.metadata }
    var contentBytes: Int64 { writer.contentBytes }
    var isFinished: Bool { partial.isOver }

    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal? {
        guard !isFinished else { throw .writerIsFinished }
        do {
            try writer.append(bytes)
            return nil
        } catch {
            return try end(after: error)
        }
    }

    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome {
        guard !isFinished else { throw .writerIsFinished }
        partial.reservation.isLengthKnown = true
        do {
            try engine.requireTimeLeft(metadata)
            let summary = try writer.finish(appending: last)
            let row = CatalogRow(
                metadata, encoding: summary.encoding, contentBytes: summary.contentBytes,
                storedBytes: summary.storedBytes,
                chargedBytes: engine.charge(storedBytes: summary.storedBytes))
            do {
                try place(row)
            } catch {
                // What is complete is not a partial.
                partial.remove()
                throw error
            }
            partial.close()
            engine.events.send(.stored(metadata.key, summary))
            return .stored(summary)
        } catch {
            return .refused(try end(after: error))
        }
    }

    /// Publishes the item.
    ///
    /// - Throws: ``Refused`` when its key was promoted since the store began, and ``CacheError``. It is not in the cache
    ///   then.
    private func place(_ row: CatalogRow) throws {
        switch replaced {
        case .abandoned: return try publish(row)
        case .absent: return try placeUnlessPromoted(row)
        case .lost, .any, .present: break
        }
        let isPlaced = try engine.promoter.replacePromotion(of: metadata.key, replaced) {
            () throws(CacheError) in try publish(row)
        }
        if !isPlaced { throw Refused(.alreadyPromoted) }
    }

    /// - Returns: `nil` without one, and also if somebody is at it for too long.
    private func awaitedEntry(of key: ItemKey) throws(CacheError) -> LedgerEntry? {
        do throws(CacheError) {
            return try engine.promoter.settledEntry(of: key)
        } catch {
            guard error.isBusy else { throw error }
            return nil
        }
    }

    /// A promotion enters its intent before it looks whether the item is still the one that it opened, and a store publishes
    /// before it looks for an intent: at least one of them sees the other. If that cannot be awaited, the item stays, to be
    /// opened or removed by whoever goes on with the promotion.
    private func placeUnlessPromoted(_ row: CatalogRow) throws {
        let key = metadata.key
        try publish(row)
        guard try engine.promotedEntry(key) != nil, let entry = try awaitedEntry(of: key),
            !isPromoted(by: entry)
        else { return }
        // Only this file: the key may have been forgotten and stored again since.
        try engine.cachedCopies.remove(key, engine.files.attributes(of: file).identity, because: .opened)
        throw Refused(.alreadyPromoted)
    }

    /// Whether it was this item that was opened, after it was published.
    private func isPromoted(by entry: LedgerEntry) -> Bool {
        entry.provenance?.storedAt == partial.metadata.storedAt && entry.contentBytes == contentBytes
    }

    private func publish(_ row: CatalogRow) throws(CacheError) {
        try engine.locks.hold(metadata.key.hash) { () throws(CacheError) in
            let place = try publish()
            engine.catalog.noteStored(row, reserved: partial.reservation.take(), at: place)
        }
    }

    /// - Returns: Where the item is listed until that is noted.
    private func publish() throws(CacheError) -> WriteIntents.Place {
        let hash = metadata.key.hash
        let place = try onFiles(engine.session.intend(toPlace: hash))
        let publication = Publication(
            of: hash, partial: partial.name, in: partial.incoming, engine.environment.fileSystem)
        do throws(CacheError) {
            do {
                try publication.publish(in: engine.folders.current)
            } catch {
                // The system may have purged the folder of the items but not the partial.
                guard case .fileSystem(let reason) = error, reason.isNotFound, try engine.folders.repair()
                else { throw error }
                try publication.publish(in: engine.folders.current)
            }
        } catch {
            engine.catalog.noteUnclear(hash, at: place)
            throw error
        }
        partial.removeJournal()
        return place
    }

    func cancel() {
        partial.remove()
    }

    func suspend() throws(CacheError) -> ResumablePartial? {
        guard !isFinished else { throw .writerIsFinished }
        guard let kept = partial.kept else {
            cancel()
            return nil
        }
        do {
            try partial.keep(writer.storedBytes)
        } catch {
            cancel()
            throw error
        }
        return kept
    }

    var logger: Logger { engine.environment.logger }

    /// Ends the store. Returns the refusal that was the reason, after counting it.
    private func end(after error: any Error) throws(CacheError) -> Refusal {
        let refusal: Refusal
        do {
            refusal = engine.refused(
                try Refusal(error), metadata.key, from: metadata.source, bytes: partial.expectedLength)
        } catch {
            cancel()
            throw error
        }
        switch refusal {
        // A partial that can never fit, or be served, is useless, and a full volume needs the space.
        case .largerThanLargestItem, .full, .expired: cancel()
        default: suspendOrCancel()
        }
        engine.admission.releaseAdvance()
        return refusal
    }
}

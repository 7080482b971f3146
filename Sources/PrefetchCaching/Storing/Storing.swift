internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

extension Engine {
    /// Stores content that is in memory.
    func store(
        _ content: UnsafeRawBufferPointer, as metadata: ItemMetadata, encoding: EncodingChoice
    ) throws(CacheError) -> StoreOutcome {
        switch try begin(metadata, encoding: encoding, expectedLength: Int64(content.count)) {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store): return try store.commit(appending: content)
        }
    }

    /// Stores the content of a file, which is read piece by piece.
    func store(
        contentsOf path: FilePath, as metadata: ItemMetadata, encoding: EncodingChoice
    ) throws(CacheError) -> StoreOutcome {
        let fileSystem = environment.fileSystem
        let file = try onFiles(
            fileSystem.open(path, in: .workingDirectory, .readFollowingLinksWithoutWaiting))
        defer { fileSystem.close(file) }
        let attributes = try onFiles(fileSystem.attributes(of: file))
        guard attributes.kind == .regular else { throw .notARegularFile(path.string) }
        // Files of /proc report no length; they are read to their end.
        let length = attributes.length > 0 ? attributes.length : nil
        switch try begin(metadata, encoding: encoding, expectedLength: length) {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store): return try fill(store, from: file, length: length)
        }
    }

    /// Stores the first `length` bytes of an open file.
    func store(_ file: Descriptor, _ length: Int64, as metadata: ItemMetadata) throws(CacheError)
        -> StoreOutcome
    {
        switch try begin(metadata, encoding: .automatic, expectedLength: length) {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store): return try fill(store, from: file, length: length)
        }
    }

    /// Stores the content of an abandoned promotion; the caller holds the lock of the key. Without room the content is
    /// dropped, as any item may be.
    func restoreToCache(_ file: Descriptor, _ length: Int64, as metadata: ItemMetadata) throws(CacheError) {
        var metadata = metadata
        metadata.storedAt = environment.now()
        do {
            if case .begun(let store) = try beginItemInPlace(
                metadata, encoding: .automatic, expectedLength: length, false)
            {
                _ = try fill(store, from: file, length: length)
            }
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
    }

    /// - Parameter length: The most bytes to read: of a file that grows meanwhile, only its original length
    ///   is stored. `nil` to read to the end.
    private func fill(_ store: any StoreUnderWay, from file: Descriptor, length: Int64?) throws(CacheError)
        -> StoreOutcome
    {
        do {
            let window = Int64(codecs.parallelism * ItemLimits.chunkBytes)
            var buffer = [UInt8](repeating: 0, count: Int(min(length ?? window, window)))
            var offset: Int64 = 0
            while true {
                let wanted = Int(min(Int64(buffer.count), (length ?? .max) - offset))
                let count = try buffer.withMutableBytes { bytes throws(CacheError) in
                    try onFiles(
                        environment.fileSystem.readAll(file, into: bytes.slice(0..<wanted), at: offset))
                }
                offset += Int64(count)
                let isLast = count < wanted || offset == length
                let outcome = try buffer.withBytes { bytes throws(CacheError) -> StoreOutcome? in
                    let piece = bytes.slice(0..<count)
                    if isLast { return try store.commit(appending: piece) }
                    return try store.append(piece).map(StoreOutcome.refused)
                }
                if let outcome { return outcome }
            }
        } catch {
            store.cancel()
            throw error
        }
    }

    enum BegunStore<Store> {
        case begun(Store)
        case refused(Refusal)
    }

    /// Begins to store an item piece by piece, as ``begin(_:encoding:expectedLength:)`` does, for a caller
    /// that adds the pieces in later calls. Closing the cache ends the store.
    ///
    /// - Parameters:
    ///   - keepingPartial: Whether whole chunks are kept when the store is interrupted.
    ///   - forgettingPromotion: Whether a promotion of the key is forgotten once the item is complete, rather
    ///     than being a reason to refuse it.
    func beginStore(
        _ metadata: ItemMetadata, encoding: EncodingChoice, expectedLength: Int64?,
        keepingPartial: Bool = false, forgettingPromotion: Bool = false
    ) throws(CacheError) -> BegunStore<UnfinishedStore> {
        switch try begin(
            metadata, encoding: encoding, expectedLength: expectedLength, keepingPartial: keepingPartial,
            forgettingPromotion: forgettingPromotion)
        {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store): return .begun(try stores.add(store))
        }
    }

    /// Begins to store an item piece by piece, within one call of the cache.
    ///
    /// - Parameter expectedLength: Bytes of content, if known. For more than one chunk, space for the worst
    ///   case is then reserved at once, so that a refusal comes before the first byte. A single chunk is
    ///   compressed first, and exactly what it takes is reserved before it is written.
    private func begin(
        _ metadata: ItemMetadata, encoding: EncodingChoice, expectedLength: Int64?,
        keepingPartial: Bool = false, forgettingPromotion: Bool = false
    ) throws(CacheError) -> BegunStore<any StoreUnderWay> {
        try usage.requireOpen()
        try onItem(metadata.validate())
        let replaced: ReplacedPromotion
        switch try promotion(replacedBy: metadata.key, forgetting: forgettingPromotion) {
        case .refused(let refusal): return .refused(refused(refusal, metadata.key))
        case .begun(let promotion): replaced = promotion
        }
        var metadata = metadata
        metadata.storedAt = environment.now()
        switch metadata.intent {
        case .userRequested:
            // For its folder and its empty file.
            return try admission.retryingAfterEviction {
                () throws(CacheError) in
                try metadata.destination.map(promoter.stager.isOnVolumeOfItems) == true ? 0 : nil
            } _: { () throws(CacheError) in
                try .begun(
                    Delivery(
                        self, metadata, expectedLength: expectedLength,
                        forgettingPromotion: forgettingPromotion))
            }
        case .opportunistic:
            do {
                if keepingPartial { try discardPartial(metadata.key) }
                switch try beginItemInPlace(
                    metadata, encoding: encoding, expectedLength: expectedLength, keepingPartial)
                {
                case .refused(let refusal): return .refused(refusal)
                case .begun(let store):
                    store.replaced = replaced
                    return .begun(store)
                }
            } catch {
                guard error.isOutOfSpace else { throw error }
                return .refused(refused(.full, metadata.key))
            }
        }
    }

    /// Starts over when the system has purged the cache's folders since they were opened: what was reserved in the old
    /// ones does not count in the new ones.
    private func beginItemInPlace(
        _ metadata: ItemMetadata, encoding: EncodingChoice, expectedLength: Int64?, _ keepingPartial: Bool
    ) throws(CacheError) -> BegunStore<ItemUnderWay> {
        let incoming = folders.current.incoming
        do {
            return try beginItem(metadata, encoding: encoding, expectedLength: expectedLength, keepingPartial)
        } catch {
            guard case .fileSystem(let reason) = error, reason.isNotFound else { throw error }
            _ = try folders.repair()
            guard folders.current.incoming !== incoming else { throw error }
        }
        return try beginItem(metadata, encoding: encoding, expectedLength: expectedLength, keepingPartial)
    }

    private func beginItem(
        _ metadata: ItemMetadata, encoding: EncodingChoice, expectedLength: Int64?, _ keepingPartial: Bool
    ) throws(CacheError) -> BegunStore<ItemUnderWay> {
        guard expectedLength ?? 0 <= ItemLimits.contentBytes else { throw .item(.contentTooLong) }
        if let refusal = try admission.refusal() { return .refused(refused(refusal, metadata.key)) }
        try catalog.beginWriting()
        let reservation = Reservation(
            admission, charge: charge, priority: metadata.priority, isLengthKnown: expectedLength != nil)
        if keepingPartial {
            PartialKeeper.reserve(reservation, metadata, expectedLength: expectedLength, charge: charge)
        }
        if let expectedLength, expectedLength > Int64(ItemLimits.chunkBytes) {
            let bound = ItemFooter.storedBytesBound(contentBytes: expectedLength, metadata: metadata)
            do {
                try reservation.cover(storedBytes: bound)
            } catch {
                return .refused(refused(try reservation.denial(), metadata.key))
            }
        }
        return .begun(
            try ItemUnderWay(
                self, metadata, encoding: encoding, reservation: reservation,
                keeping: (keepingPartial, expectedLength)))
    }

    /// A promoted key is stored again only when its file is gone, or when the caller is `forgetting` it.
    func promotion(replacedBy key: ItemKey, forgetting: Bool) throws(CacheError)
        -> BegunStore<ReplacedPromotion>
    {
        if forgetting { return .begun(.any) }
        guard let entry = try promotedEntry(key) else { return .begun(.none) }
        if try isThere(entry) { return .refused(.alreadyPromoted) }
        // An intent without a file has failed, and is dropped when its key is opened.
        return .begun(entry.state == .committed ? .lost(entry) : .none)
    }

    /// Counts and reports an item that went straight to its destination.
    func delivered(_ opened: PromotedFile) -> PromotedFile {
        guard opened.isFirstOpen else { return opened }
        catalog.notePromoted(opened.key.hash)
        events.send(.promoted(opened.key, opened.location))
        return opened
    }

    /// Counts and reports a refusal.
    func refused(_ refusal: Refusal, _ key: ItemKey) -> Refusal {
        catalog.inMemory { $0.pending.count(refusal) }
        events.send(.refused(key, refusal))
        return refusal
    }
}

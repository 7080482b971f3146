internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat

extension Engine {
    private enum Found {
        case none, inUse
        case kept(ResumablePartial)
        case newer(UInt16)
        /// It can never be resumed.
        case unusable
    }

    /// Returns the partial of an item; `nil` when there is none, or a living process is writing it.
    func partial(of key: ItemKey) throws(CacheError) -> ResumablePartial? {
        var found = try find(key)
        if case .none = found, try folders.repair() { found = try find(key) }
        switch found {
        case .kept(let partial): return partial
        case .inUse: return nil
        case .none: catalog.notePartialAbsent(key.hash)
        case .newer(let version): events.send(.newerFormat(key, version: version))
        case .unusable: try discardPartial(key)
        }
        return nil
    }

    private func find(_ key: ItemKey) throws(CacheError) -> Found {
        let fileSystem = environment.fileSystem
        do {
            let files = PartialFiles(incoming: folders.current.incoming)
            let length = try onFiles(files.lengthOfChunks(key.hash))
            let file = try onFiles(files.openJournal(key.hash))
            guard let file else { return length == nil ? .none : .unusable }
            defer { fileSystem.close(file) }
            let head = try onFiles(PartialHead(of: file, in: fileSystem))
            guard let head else { return .unusable }
            let writer = try onFiles(files.livingWriter(head))
            if writer != nil { return .inUse }
            return try find(key, in: file, head, length)
        } catch {
            // Without permission to read the file it cannot be resumed.
            guard case .fileSystem(let reason) = error, reason.isNotPermitted else { throw error }
            return .none
        }
    }

    private func find(_ key: ItemKey, in file: Descriptor, _ head: PartialHead, _ length: Int64?)
        throws(CacheError) -> Found
    {
        do throws(ItemFormatError) {
            var journal = try PartialJournal(of: file, in: environment.fileSystem)
            journal.cut(toStoredLength: length ?? 0)
            let now = environment.now()
            guard journal.metadata.key == key, !journal.chunks.isEmpty,
                PartialItem.expiry(keptAt: head.keptAt, now: now, of: journal.metadata) > now
            else { return .unusable }
            return .kept(ResumablePartial(journal))
        } catch {
            switch error {
            case .newerVersion(let version): return .newer(version)
            case .fileSystem(let error): throw .fileSystem(error)
            default: return .unusable
            }
        }
    }

    /// Removes the partial of an item, unless a living process is writing it.
    func discardPartial(_ key: ItemKey) throws(CacheError) {
        try locks.hold(key.hash.ofPartial) { () throws(CacheError) in
            let files = PartialFiles(incoming: folders.current.incoming)
            switch try onFiles(files.remove(key.hash)) {
            case .removed: catalog.notePartialGone(key.hash)
            case .gone: catalog.notePartialAbsent(key.hash)
            case .leased: break
            }
        }
    }

    enum ResumedStore {
        case begun(UnfinishedStore)
        case refused(Refusal)
        case gone
    }

    /// Resumes an item that was interrupted.
    ///
    /// - Parameters:
    ///   - forgettingPromotion: As in
    ///     ``beginStore(_:encoding:expectedLength:keepingPartial:forgettingPromotion:)``.
    ///   - replay: Receives the kept content, in order.
    func resume(
        _ partial: ResumablePartial, forgettingPromotion: Bool = false,
        replay: @Sendable (UnsafeRawBufferPointer) -> Void
    ) throws(CacheError) -> ResumedStore {
        try usage.requireOpen()
        let key = partial.metadata.key
        let replaced: ReplacedPromotion
        switch try promotion(replacedBy: key, forgetting: forgettingPromotion) {
        case .refused(let refusal):
            try discardPartial(key)
            return .refused(refused(refusal, key))
        case .begun(let promotion): replaced = promotion
        }
        if let refusal = try admission.refusal() { return .refused(refused(refusal, key)) }
        guard try self.partial(of: key)?.generation == partial.generation else { return .gone }
        do {
            try catalog.beginWriting()
            switch try admission.takeOver(key.hash, priority: partial.metadata.priority, charge: charge) {
            case .gone: return .gone
            case .refused(let refusal): return .refused(refused(refusal, key))
            case .taken(let taken, let charged):
                return try resume(
                    taken, as: partial, charged: charged, replaced, replay: replay)
            }
        } catch {
            guard error.isOutOfSpace else { throw error }
            return .refused(refused(.full, key))
        }
    }

    private func resume(
        _ taken: TakenPartial, as partial: ResumablePartial, charged: Int64, _ replaced: ReplacedPromotion,
        replay: @Sendable (UnsafeRawBufferPointer) -> Void
    ) throws(CacheError) -> ResumedStore {
        let reservation = Reservation(
            admission, charge: charge, priority: partial.metadata.priority,
            isLengthKnown: partial.expectedLength != nil, holding: charged)
        switch try resumeStore(taken, partial.generation, reservation, replay: replay) {
        case nil: return .gone
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store):
            store.replaced = replaced
            return .begun(try stores.add(store))
        }
    }

    /// - Returns: `nil` when there is nothing to resume. In that case, and after a refusal or an error, the partial is
    ///   no longer held.
    private func resumeStore(
        _ taken: TakenPartial, _ generation: UInt64, _ reservation: Reservation,
        replay: @Sendable (UnsafeRawBufferPointer) -> Void
    ) throws(CacheError) -> BegunStore<ItemUnderWay>? {
        let read: PartialJournal?
        do {
            read = try journal(of: taken)
        } catch {
            drop(taken, reservation)
            throw error
        }
        guard var journal = read else {
            drop(taken, reservation)
            return nil
        }
        guard journal.generation == generation else {
            // Replaced since it was looked up.
            keep(taken, journal, reservation)
            return nil
        }
        let file: Descriptor
        do throws(CacheError) {
            if let refusal = try reserve(journal, reservation) {
                keep(taken, journal, reservation)
                return .refused(refusal)
            }
            guard let opened = try openChunks(taken) else {
                drop(taken, reservation)
                return nil
            }
            file = opened
        } catch {
            // Nothing was changed yet.
            keep(taken, journal, reservation)
            throw error
        }
        do throws(CacheError) {
            try verify(&journal, taken, file, replay: replay)
            if !journal.chunks.isEmpty {
                return .begun(
                    try ItemUnderWay(self, resuming: taken, journal, file: file, reservation: reservation))
            }
        } catch {
            environment.fileSystem.close(file)
            drop(taken, reservation)
            throw error
        }
        environment.fileSystem.close(file)
        drop(taken, reservation)
        return nil
    }

    /// - Returns: `nil` for a file with a second hard link, through which the changes would be visible.
    private func openChunks(_ taken: TakenPartial) throws(CacheError) -> Descriptor? {
        do {
            return try environment.fileSystem.open(
                CacheLayout.keptPartial(of: taken.hash), in: taken.files.incoming.descriptor, .readWrite)
        } catch {
            guard error.isHardLinked else { throw .fileSystem(error) }
            return nil
        }
    }

    /// - Returns: `nil` for an unusable journal.
    private func journal(of taken: TakenPartial) throws(CacheError) -> PartialJournal? {
        let length = try onFiles(taken.files.lengthOfChunks(taken.hash))
        do throws(ItemFormatError) {
            var journal = try PartialJournal(of: taken.journal, in: environment.fileSystem)
            journal.cut(toStoredLength: length ?? 0)
            return journal
        } catch {
            if case .fileSystem(let error) = error { throw .fileSystem(error) }
            return nil
        }
    }

    /// Reserves the worst case of the rest, if the length is known.
    private func reserve(_ journal: PartialJournal, _ reservation: Reservation) throws(CacheError) -> Refusal?
    {
        reservation.journalBytes = charge(storedBytes: journal.length)
        guard let length = journal.expectedLength else { return nil }
        let whole = max(length, journal.contentBytes)
        PartialKeeper.reserve(reservation, journal.metadata, expectedLength: whole, charge: charge)
        do {
            try reservation.cover(
                storedBytes: ItemFooter.storedBytesBound(
                    contentBytes: whole, metadata: journal.metadata))
            return nil
        } catch {
            return refused(try reservation.denial(), journal.metadata.key)
        }
    }

    /// Reads the kept content, and truncates it before the first damaged chunk.
    private func verify(
        _ journal: inout PartialJournal, _ taken: TakenPartial, _ file: Descriptor,
        replay: @Sendable (UnsafeRawBufferPointer) -> Void
    ) throws(CacheError) {
        let fileSystem = environment.fileSystem
        let sound: Int
        do {
            sound = try journal.verify(
                in: file, of: fileSystem, codecs: codecs, handing: replay)
        } catch {
            guard case .fileSystem(let error) = error else { throw .item(error) }
            throw .fileSystem(error)
        }
        journal.cut(to: sound)
        let (contentEnd, journalEnd) = (journal.storedBytes, journal.length)
        try onFiles { () throws(FileSystemError) in
            if try fileSystem.attributes(of: file).length != contentEnd {
                try fileSystem.resize(file, to: contentEnd)
            }
            if try fileSystem.attributes(of: taken.journal).length != journalEnd {
                try fileSystem.resize(taken.journal, to: journalEnd)
            }
        }
    }

    /// Releases a partial, which stays.
    private func keep(_ taken: TakenPartial, _ journal: PartialJournal, _ reservation: Reservation) {
        do {
            try locks.hold(taken.hash.ofPartial) { () throws(FileSystemError) in
                let row = CatalogRow(
                    partial: journal, keptAt: taken.keptAt, now: environment.now(),
                    storedBytes: try taken.files.lengthOfChunks(taken.hash) ?? 0,
                    journalLength: try environment.fileSystem.attributes(of: taken.journal).length,
                    charge: charge)
                try PartialHead.write(
                    writer: 0, keptAt: taken.keptAt, to: taken.journal, in: environment.fileSystem)
                catalog.noteKept(row, reserved: reservation.take())
            }
        } catch {
            environment.logger.warning("A partial could not be kept.", metadata: ["error": "\(error)"])
            return drop(taken, reservation)
        }
        taken.close()
    }

    /// Removes a partial that was taken over.
    private func drop(_ taken: TakenPartial, _ reservation: Reservation) {
        defer { taken.close() }
        do {
            try locks.hold(taken.hash.ofPartial) { () throws(FileSystemError) in
                try taken.files.unlink(taken.hash)
                catalog.notePartialGone(taken.hash)
            }
            reservation.release()
        } catch {
            // It stays charged until a sweep after this process has ended removes it.
            environment.logger.warning("A partial could not be removed.", metadata: ["error": "\(error)"])
        }
    }
}

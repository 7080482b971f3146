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
            let length = try files.lengthOfChunks(key.hash)
            guard let file = try files.openJournal(key.hash) else { return length == nil ? .none : .unusable }
            defer { fileSystem.close(file) }
            guard let head = try PartialHead(of: file, in: fileSystem) else { return .unusable }
            if try files.livingWriter(head) != nil { return .inUse }
            var journal = try PartialJournal(of: file, in: fileSystem)
            journal.cut(toStoredLength: length ?? 0)
            let now = environment.now()
            guard journal.metadata.key == key, !journal.chunks.isEmpty,
                PartialItem.expiry(keptAt: head.keptAt, now: now, of: journal.metadata) > now
            else { return .unusable }
            return .kept(ResumablePartial(journal))
        } catch let error as FileSystemError {
            return try found(after: error)
        } catch ItemFormatError.fileSystem(let error) {
            return try found(after: error)
        } catch ItemFormatError.newerVersion(let version) {
            return .newer(version)
        } catch {
            return .unusable
        }
    }

    /// Without permission to read the file it cannot be resumed.
    private func found(after error: FileSystemError) throws(CacheError) -> Found {
        guard error.isNotPermitted else { throw .fileSystem(error) }
        return .none
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

    /// Resumes an item that was interrupted.
    ///
    /// - Parameters:
    ///   - forgettingPromotion: As in
    ///     ``beginStore(_:encoding:expectedLength:keepingPartial:forgettingPromotion:admission:)``.
    ///   - replay: Receives the kept content, in order.
    /// - Returns: `nil` when there is nothing to resume.
    func resume(
        _ partial: ResumablePartial, forgettingPromotion: Bool = false,
        on terms: AdmissionTerms = AdmissionTerms(), replay: @Sendable (UnsafeRawBufferPointer) -> Void
    ) throws(CacheError) -> BegunStore<UnfinishedStore>? {
        try usage.requireOpen()
        let key = partial.metadata.key
        guard let replaced = try promotion(replacedBy: key, forgetting: forgettingPromotion) else {
            try discardPartial(key)
            return .refused(refused(.alreadyPromoted, key, from: partial.metadata.source))
        }
        let begun = try refusing(partial.metadata) { () -> ItemUnderWay? in
            if let refusal = try admission.refusal() { throw Refused(refusal) }
            guard try self.partial(of: key)?.generation == partial.generation else { return nil }
            try catalog.beginWriting()
            guard let held = try takeOver(partial, terms) else { return nil }
            return try resume(held, partial.generation, replacing: replaced, replay: replay)
        }
        switch begun {
        case .refused(let refusal): return .refused(refusal)
        case .begun(nil): return nil
        case .begun(let store?): return .begun(try stores.add(store))
        }
    }

    /// - Returns: `nil` when there is nothing to resume. The partial is then removed, unless it is another one now.
    private func resume(
        _ held: HeldPartial, _ generation: UInt64, replacing replaced: ReplacedPromotion,
        replay: (UnsafeRawBufferPointer) -> Void
    ) throws -> ItemUnderWay? {
        guard let journal = try held.readJournal() else { return nil }
        guard journal.generation == generation else {
            // Replaced since it was looked up.
            held.putBack()
            return nil
        }
        let file: Descriptor?
        do {
            held.reservation.hold(journal: journal.length)
            if let length = journal.expectedLength {
                let whole = max(length, journal.contentBytes)
                try held.reservation.coverAll(whole, of: journal.metadata, isJournaled: true)
            }
            file = try held.openChunks()
        } catch {
            // Nothing was changed yet.
            held.putBack()
            throw error
        }
        guard let file else { return nil }
        try held.verify(handing: replay)
        guard held.journal?.chunks.isEmpty == false else { return nil }
        return try ItemUnderWay(self, in: held, file, replacing: replaced)
    }

    /// Takes the lock of a kept partial, and moves its charge from its row to a reservation.
    ///
    /// The session is recorded in the journal within the transaction, so that no other process writes the row of this
    /// partial meanwhile, and after the bound of this process was raised: a process that rebuilds the catalog either
    /// charges for the partial or finds it in the bound.
    ///
    /// - Returns: `nil` when it is being written, or there is none that could be resumed.
    private func takeOver(_ partial: ResumablePartial, _ terms: AdmissionTerms) throws -> HeldPartial? {
        let newcomer = Newcomer(partial.metadata, terms)
        var transfer = Transfer()
        var taken: TakenPartial?
        var isCharged = false
        defer { if !isCharged { taken?.giveBack(environment) } }
        let charged = try admission.run(&transfer) { transaction, transfer in
            // A transaction may be retried.
            if taken == nil { taken = try TakenPartial(partial.metadata.key.hash, self) }
            return try taken?.charge(to: self, newcomer, &transfer, transaction)
        } committed: { charged, allowance in
            if case .success(let bytes) = charged { _ = allowance.reserve(bytes) }
        }
        guard let taken, let bytes = try charged?.get() else { return nil }
        isCharged = true
        let reservation = Reservation(
            admission, charge: charge, for: newcomer, isLengthKnown: partial.expectedLength != nil,
            holding: bytes)
        return HeldPartial(self, taken, of: partial, reservation)
    }
}

/// A kept partial whose lock was taken, and which is still charged by its row.
struct TakenPartial {
    let files: PartialFiles
    let journal: Descriptor
    /// When it was kept, in milliseconds since 1970.
    let keptAt: Int64
    private let hash: KeyHash

    /// - Returns: `nil` when it is being written, or there is none of this version.
    init?(_ hash: KeyHash, _ engine: Engine) throws(FileSystemError) {
        let fileSystem = engine.environment.fileSystem
        files = PartialFiles(incoming: engine.folders.current.incoming)
        guard case .locked(let journal) = try files.lock(hash) else { return nil }
        do throws(FileSystemError) {
            if let head = try PartialHead(of: journal, in: fileSystem),
                head.version <= PartialJournal.version
            {
                (self.hash, self.journal, keptAt) = (hash, journal, head.keptAt)
                return
            }
        } catch {
            fileSystem.unlock(journal)
            throw error
        }
        fileSystem.unlock(journal)
        return nil
    }

    /// - Returns: The bytes that are reserved for it now, or why not; `nil` when its chunks are gone. A refusal is not
    ///   thrown: what was done for it is committed.
    func charge(
        to engine: Engine, _ newcomer: Newcomer, _ transfer: inout Transfer, _ transaction: CatalogTransaction
    ) throws -> Result<Int64, Refused>? {
        let (environment, catalog) = (engine.environment, engine.catalog)
        guard let storedBytes = try files.lengthOfChunks(hash) else { return nil }
        let journalLength = try environment.fileSystem.attributes(of: journal).length
        let charged = engine.charge(storedBytes: storedBytes) + engine.charge(storedBytes: journalLength)

        var known = try transaction.chargedBytes(ofPartial: hash)
        // Its writer may have died and not been reclaimed yet.
        if known == nil, try catalog.reclaimDeadWriters(transaction) {
            known = try transaction.chargedBytes(ofPartial: hash)
        }
        let used = try transaction.usedBytes()
        let ceiling = try engine.admission.watch.snapshot(transaction).ceiling
        let excess = used - (known ?? 0) + charged - max(ceiling, used)
        if excess > 0 {
            let made = try engine.evictor.makeRoom(excess, for: newcomer, from: transaction)
            guard made.freed >= excess else {
                return .failure(Refused(made.obstacle ?? .overBudget(needed: charged, budget: ceiling)))
            }
        }
        catalog.inMemory { transfer.promise(charged, by: &$0.allowance) }
        try catalog.raiseBound()
        try PartialHead.write(
            writer: PartialFiles.number(ofSession: environment.session), keptAt: environment.now(),
            to: journal, in: environment.fileSystem)
        try transaction.deletePartial(hash)
        try transaction.changeAllowance(of: environment.session, by: charged)
        return .success(charged)
    }

    /// Releases the partial, which is charged by its row, as before.
    func giveBack(_ environment: CacheEnvironment) {
        do {
            try PartialHead.write(writer: 0, keptAt: keptAt, to: journal, in: environment.fileSystem)
        } catch {
            // It counts as in use until this process ends.
            environment.logger.warning("A partial could not be released.", metadata: ["error": "\(error)"])
        }
        environment.fileSystem.unlock(journal)
    }
}

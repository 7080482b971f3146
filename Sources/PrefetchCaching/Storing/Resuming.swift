internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat

extension Engine {
    private enum Found {
        case none, inUse
        case partial(Resumability)
    }

    /// Returns the partial of an item; `nil` when there is none, or a living process is writing it.
    ///
    /// - Parameter intent: What the user asked for may be resumed in the cache or at its destination; the longer partial is
    ///   returned.
    func partial(of key: ItemKey, for intent: Intent = .opportunistic) throws(CacheError) -> ResumablePartial?
    {
        let cached = try cachedPartial(of: key)
        guard intent == .userRequested, let staged = try stagedPartial(of: key)?.partial,
            staged.contentBytes >= cached?.contentBytes ?? 0
        else { return cached }
        return staged
    }

    private func cachedPartial(of key: ItemKey) throws(CacheError) -> ResumablePartial? {
        var found = try find(key)
        if case .none = found, try folders.repair() { found = try find(key) }
        switch found {
        case .partial(.possible(let partial, _, _)) where partial.metadata.key == key: return partial
        case .partial(.newer(let version)): events.send(.newerFormat(key, version: version))
        case .partial: try discardCachedPartial(key)
        case .none: catalog.notePartialAbsent(key.hash)
        case .inUse: break
        }
        return nil
    }

    private func find(_ key: ItemKey) throws(CacheError) -> Found {
        let fileSystem = environment.fileSystem
        do throws(FileSystemError) {
            let files = PartialFiles(incoming: folders.current.incoming)
            let length = try files.lengthOfChunks(key.hash)
            guard let file = try files.openJournal(key.hash) else {
                return length == nil ? .none : .partial(.impossible)
            }
            defer { fileSystem.close(file) }
            if let head = try PartialHead(of: file, in: fileSystem), try files.livingWriter(head) != nil {
                return .inUse
            }
            return .partial(
                try Resumability(
                    file, of: key.hash, chunksLength: length ?? 0, now: environment.now(), in: fileSystem))
        } catch {
            return try found(after: error)
        }
    }

    /// What is kept of an item at its destination, if nobody is writing it; the longest of several.
    private func stagedPartial(of key: ItemKey)
        throws(CacheError) -> (place: StagedPartial, partial: ResumablePartial)?
    {
        try onFiles { () throws(FileSystemError) in
            var longest: (place: StagedPartial, partial: ResumablePartial)?
            for place in try stagedPartials(of: key.hash) {
                guard case .possible(let partial, _, _)? = try place.resumability(now: environment.now()),
                    partial.metadata.key == key,
                    partial.contentBytes > longest?.partial.contentBytes ?? 0, let file = try place.lock()
                else { continue }
                environment.fileSystem.unlock(file)
                longest = (place, partial)
            }
            return longest
        }
    }

    /// - Parameter hash: `nil` for those of all keys.
    func stagedPartials(of hash: KeyHash? = nil) throws(FileSystemError) -> [StagedPartial] {
        var all: [StagedPartial] = []
        for folder in try destinations.support.stagingFolders() {
            all += try StagedPartial.all(in: folder, of: hash)
        }
        return all
    }

    /// Without permission to read the file it cannot be resumed.
    private func found(after error: FileSystemError) throws(CacheError) -> Found {
        guard error.isNotPermitted else { throw .fileSystem(error) }
        return .none
    }

    /// Removes the partials of an item, unless a living process is writing them.
    func discardPartials(_ key: ItemKey) throws(CacheError) {
        try discardCachedPartial(key)
        try discardStagedPartials(key)
    }

    func discardStagedPartials(_ key: ItemKey) throws(CacheError) {
        try onFiles { () throws(FileSystemError) in
            for partial in try stagedPartials(of: key.hash) { try partial.remove() }
        }
    }

    func discardCachedPartial(_ key: ItemKey) throws(CacheError) {
        try locks.hold(key.hash.ofPartial) { () throws(CacheError) in
            _ = try removeCachedPartial(key.hash)
        }
    }

    /// The caller holds the lock of the partial.
    func removeCachedPartial(_ hash: KeyHash) throws(CacheError) -> Removal {
        try catalog.removing(hash) { place throws(CacheError) in
            let removal = try onFiles(PartialFiles(incoming: folders.current.incoming).remove(hash))
            if removal == .removed {
                catalog.notePartialGone(hash, at: place)
            } else {
                // A leased one stays, and so does its row.
                catalog.notePartialAbsent(hash, at: place)
            }
            return removal
        }
    }

    /// Resumes an item that was interrupted.
    ///
    /// - Parameters:
    ///   - whenPromoted: As in
    ///     ``beginStore(_:encoding:expectedLength:keepingPartial:whenPromoted:admission:)``.
    ///   - replay: Receives the kept content, in order.
    /// - Returns: `nil` when there is nothing to resume.
    func resume(
        _ partial: ResumablePartial, whenPromoted: WhenPromoted = .leave,
        on terms: AdmissionTerms = AdmissionTerms(), replay: @Sendable (UnsafeRawBufferPointer) -> Void
    ) throws(CacheError) -> BegunStore<UnfinishedStore>? {
        try usage.requireOpen()
        let key = partial.metadata.key
        guard let replaced = try promotion(replacedBy: key, whenPromoted) else {
            try discardPartials(key)
            return .refused(refused(.alreadyPromoted, key, from: partial.metadata.source))
        }
        guard partial.metadata.intent == .opportunistic, !replaced.isPresent else {
            let delivery = try resumeDelivery(partial, whenPromoted: replaced.onDelivery, replay: replay)
            guard let delivery else { return nil }
            return .begun(try stores.add(delivery))
        }
        let begun = try refusing(partial.metadata) { () -> ItemUnderWay? in
            if let refusal = try admission.refusal() { throw Refused(refusal) }
            try requireTimeLeft(partial.metadata)
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

    /// - Returns: `nil` when there is nothing to resume.
    private func resumeDelivery(
        _ partial: ResumablePartial, whenPromoted: WhenPromoted, replay: (UnsafeRawBufferPointer) -> Void
    ) throws(CacheError) -> Delivery? {
        guard let (place, present) = try stagedPartial(of: partial.metadata.key),
            present.generation == partial.generation
        else { return nil }
        return try Delivery(self, resuming: place, partial, whenPromoted: whenPromoted, replay)
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
        if known == nil, try !catalog.reclaimDeadWriters(transaction).isEmpty {
            known = try transaction.chargedBytes(ofPartial: hash)
        }
        let used = try transaction.usedBytes()
        let ceiling = try engine.admission.watch.snapshot(transaction).ceiling
        let excess = used - (known ?? 0) + charged - max(ceiling, used)
        if excess > 0 {
            let made = try RoomForRequest(engine.evictor, for: newcomer, in: transaction).make(excess)
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

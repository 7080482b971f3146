internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat

/// A kept partial whose lock this process holds in order to resume it.
struct TakenPartial: Sendable {
    let files: PartialFiles
    let hash: KeyHash
    let journal: Descriptor
    /// When it was kept, in milliseconds since 1970.
    let keptAt: Int64

    func close() {
        files.incoming.fileSystem.unlock(journal)
    }
}

/// The result of taking a partial over.
enum TakeOver {
    /// Its bytes are reserved.
    case taken(TakenPartial, chargedBytes: Int64)
    case refused(Refusal)
    /// It is being written, or there is none that could be resumed.
    case gone
}

extension Admission {
    private enum Decision {
        case granted(Int64)
        case refused(Refusal)
        case gone
    }

    /// Takes the lock of a kept partial, and moves its charge from its row to a reservation.
    ///
    /// The session is recorded in the journal within the transaction, so that no other process writes the row of this
    /// partial meanwhile, and after the bound of this process was raised: a process that rebuilds the catalog either
    /// charges for the partial or finds it in the bound.
    func takeOver(_ hash: KeyHash, priority: Float, charge: ChargedLength) throws(CacheError) -> TakeOver {
        var transfer = Transfer()
        var taken: TakenPartial?
        do {
            let decision = try run(&transfer) { transaction, transfer in
                // A transaction may be retried.
                if taken == nil { taken = try lock(hash) }
                guard let taken else { return Decision.gone }
                return try decide(on: taken, priority, charge, &transfer, transaction)
            } committed: { decision, allowance in
                if case .granted(let bytes) = decision { _ = allowance.reserve(bytes) }
            }
            if case .granted(let bytes) = decision, let taken {
                return .taken(taken, chargedBytes: bytes)
            }
            if let taken { giveBack(taken) }
            guard case .refused(let refusal) = decision else { return .gone }
            return .refused(refusal)
        } catch {
            if let taken { giveBack(taken) }
            throw error
        }
    }

    private func lock(_ hash: KeyHash) throws -> TakenPartial? {
        let files = PartialFiles(incoming: catalog.folders.current.incoming)
        guard case .locked(let journal) = try files.lock(hash) else { return nil }
        do {
            guard let head = try PartialHead(of: journal, in: catalog.environment.fileSystem),
                head.version <= PartialJournal.version
            else {
                catalog.environment.fileSystem.unlock(journal)
                return nil
            }
            return TakenPartial(files: files, hash: hash, journal: journal, keptAt: head.keptAt)
        } catch {
            catalog.environment.fileSystem.unlock(journal)
            throw error
        }
    }

    private func decide(
        on partial: TakenPartial, _ priority: Float, _ charge: ChargedLength, _ transfer: inout Transfer,
        _ transaction: CatalogTransaction
    ) throws -> Decision {
        let environment = catalog.environment
        guard let storedBytes = try partial.files.lengthOfChunks(partial.hash) else { return .gone }
        let journalLength = try environment.fileSystem.attributes(of: partial.journal).length
        let charged = charge(storedBytes: storedBytes) + charge(storedBytes: journalLength)

        var known = try transaction.chargedBytes(ofPartial: partial.hash)
        // Its writer may have died and not been reclaimed yet.
        if known == nil, try catalog.reclaimDeadWriters(transaction) {
            known = try transaction.chargedBytes(ofPartial: partial.hash)
        }
        let used = try transaction.usedBytes()
        let ceiling = try watch.snapshot(transaction).ceiling
        let excess = used - (known ?? 0) + charged - max(ceiling, used)
        if excess > 0 {
            let made = try evictor.makeRoom(excess, priority: priority, from: transaction)
            guard made.freed >= excess else {
                return .refused(.overBudget(needed: charged, budget: ceiling))
            }
        }
        catalog.inMemory { transfer.promise(charged, by: &$0.allowance) }
        try catalog.raiseBound()
        try PartialHead.write(
            writer: PartialFiles.number(ofSession: environment.session), keptAt: environment.now(),
            to: partial.journal, in: environment.fileSystem)
        try transaction.deletePartial(partial.hash)
        try transaction.changeAllowance(of: catalog.environment.session, by: charged)
        return .granted(charged)
    }

    /// Releases a partial that is charged by its row, as before.
    private func giveBack(_ partial: TakenPartial) {
        do {
            try PartialHead.write(
                writer: 0, keptAt: partial.keptAt, to: partial.journal, in: catalog.environment.fileSystem)
        } catch {
            // It counts as in use until this process ends.
            watch.log("A partial could not be released.", error)
        }
        partial.close()
    }
}

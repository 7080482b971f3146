internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// The first open of an item, or of several with one set of flushes.
///
/// Each step is taken for all items before the next: all contents are durable in staging, and all intents are entered,
/// in one transaction, before a file is published; all names before the promotions are committed, in one transaction;
/// then the cached copies are removed. A crash leaves intents, which ``Recovery`` resolves one by one.
///
/// Of several, an item that fails is taken out, and the others continue. If the others may have caused the failure, it
/// is retried alone.
struct Promotion {
    enum Outcome {
        case ended(Result<Lookup<PromotedFile>, CacheError>)
        /// It has to be opened alone, or again: there is none, or it was evicted or replaced in the meantime. While
        /// leased, the item is not evicted for others.
        case again(leasing: Descriptor?)
    }

    /// With which items an item shares its flushes.
    enum Sharing {
        /// There is one key, without an entry.
        case none
        /// With the others of one call. What concerns one of them only, or takes long, is left to opening it alone.
        case withinCall
        /// With those of other tasks: as ``withinCall``, but nothing may hold up the others.
        case betweenTasks
    }

    /// The most keys that are opened together. Each holds up to three descriptors.
    static let most = 32

    /// The longest content that is opened together with others, in bytes. A longer one takes more time to decode or to
    /// verify than to flush, gains nothing here, and would hold the locks of all.
    static let longest: Int64 = 4 << 20

    /// As ``longest``, with items of other tasks: 32 of them are 8 MiB.
    static let longestShared: Int64 = 256 << 10

    private struct Member {
        /// The index of the key in the list.
        let index: Int
        let reader: ItemReader
        let item: FileAttributes
        let place: PromotionPlace
        var entry: LedgerEntry
        /// The intent to rename an item that is copied: without room for the copy, that needs none.
        var renaming: LedgerEntry?
        /// What was decoded, until it is flushed.
        var content: StagedContent?
        /// Whether its intended name is another key's.
        var isDisplaced = false
        /// Whether it is published after the others are committed: its intended name is taken or rejected.
        var isWaiting = false

        func failureOfFlush(by stager: Stager) -> CacheError? {
            guard let content else { return nil }
            do throws(CacheError) {
                try stager.flush(content, for: entry)
                return nil
            } catch {
                return error
            }
        }
    }

    /// What happens to an item after a step.
    private enum Continuation {
        case stays
        case missed(Miss)
        case again
    }

    /// A folder that items go to.
    private struct Site: Hashable {
        let area: Area
        let folder: FolderPath?
    }

    private let stager: Stager
    private let publisher: Publisher
    private let keys: [ItemKey]
    private let sharing: Sharing
    private let watcher: OpenWatcher
    private var members: [Member] = []
    /// The open files of the items, by the index of the key.
    private var leases: [Int: Descriptor] = [:]
    private var places: [Site: PromotionPlace] = [:]
    private var areIntentsEntered = false
    private var results: [Result<Lookup<PromotedFile>, CacheError>?]

    private var isJoint: Bool { sharing != .none }
    private var files: PromotedFiles { stager.files }
    private var destinations: Destinations { files.destinations }
    private var ledger: any PromotionLedger { stager.ledger }

    /// - Parameters:
    ///   - keys: At most ``most``. The caller holds their locks.
    ///   - watcher: May cancel until the intents are entered.
    init(
        of keys: [ItemKey], sharing: Sharing, _ stager: Stager, _ publisher: Publisher,
        for watcher: OpenWatcher
    ) {
        self.stager = stager
        self.publisher = publisher
        self.keys = keys
        self.watcher = watcher
        self.sharing = sharing
        results = keys.map { _ in nil }
    }

    /// - Returns: The outcome for each key.
    consuming func run() -> [Outcome] {
        prepare()
        stage()
        enterIntents()
        takeItems()
        if isJoint {
            publish()
            commit()
        }
        publishOneByOne()
        return results.enumerated().map { index, result in
            guard let result else { return .again(leasing: leases[index]) }
            if let file = leases[index] { stager.fileSystem.close(file) }
            return .ended(result)
        }
    }

    /// Opens the items, which leases them, and then the folders that they go to, for which others may be evicted.
    private mutating func prepare() {
        var seen: Set<ItemKey> = []
        for (index, key) in keys.enumerated() where seen.insert(key).inserted {
            do throws(CacheError) {
                // For a single key the caller has checked that.
                if isJoint, try ledger.entry(for: key) != nil { continue }
                leases[index] = try stager.folders.openItem(key.hash)
            } catch {
                fail(index, error)
            }
        }
        for (index, key) in keys.enumerated() {
            guard let file = leases[index] else { continue }
            do {
                if let member = try prepared(key, file, index) { members.append(member) }
            } catch {
                fail(index, error)
            }
        }
    }

    /// - Returns: `nil` for a miss and, among several, for an item that is not small.
    private mutating func prepared(_ key: ItemKey, _ file: Descriptor, _ index: Int)
        throws(CacheError) -> Member?
    {
        let reader: ItemReader
        switch try stager.reader(of: file, for: key) {
        case .hit(let found): reader = found
        case .miss(let miss):
            if !isJoint { results[index] = .success(.miss(miss)) }
            return nil
        }
        guard let target = reader.footer.metadata.destination else { throw .noDestination(key) }
        // Coordination works file by file.
        guard !isJoint || target.area != .iCloudDrive else { return nil }
        let place = try place(for: target)
        let (entry, item) = try stager.intent(reader.footer, of: file, to: target, in: place)
        guard !isJoint || isShort(entry, reader) else { return nil }
        if entry.mode == .rename { try destinations.requireWritable(place, for: entry) }
        var member = Member(index: index, reader: reader, item: item, place: place, entry: entry)
        if stager.isBetterCopied(entry) {
            member.renaming = entry
            member.entry.mode = .decode
        }
        return member
    }

    private func isShort(_ entry: LedgerEntry, _ reader: ItemReader) -> Bool {
        // Each file of a bundle is flushed.
        if sharing == .betweenTasks { return entry.parts.isEmpty && entry.contentBytes <= Self.longestShared }
        return entry.contentBytes <= Self.longest || entry.mode == .rename && stager.isOfThisBoot(reader)
    }

    private mutating func place(for target: Destination) throws(CacheError) -> PromotionPlace {
        let site = Site(area: target.area, folder: destinations.support.areas.folder(for: target))
        if let place = places[site] { return place }
        // The ledger, and folders that are created now, need room whatever the encoding.
        let staging = destinations.support.staging
        if places.isEmpty {
            if sharing != .betweenTasks {
                try stager.admission.makeRoomToOpen(0, in: staging)
            } else if try !stager.admission.hasRoomToOpen(0, in: staging) {
                throw .insufficientSpace(needed: 0, available: 0)
            }
        }
        let place = try stager.place(for: target, holding: keys.map(\.hash))
        places[site] = place
        return place
    }

    /// Decodes items into staging, and verifies those that are renamed.
    private mutating func stage() {
        let (stager, watcher, isJoint) = (stager, watcher, isJoint)
        func verify(_ member: Member) throws(CacheError) -> Continuation {
            try stager.damage(member.reader, for: watcher).map(Continuation.missed) ?? .stays
        }
        forEach { member throws(CacheError) in
            try watcher.checkCancellation()
            guard member.entry.mode == .decode else { return try verify(member) }
            let (needed, staging) = (member.entry.contentBytes, member.place.staging)
            if try !stager.admission.hasRoomToOpen(needed, in: staging) {
                if let renaming = member.renaming {
                    member.entry = renaming
                    return try verify(member)
                }
                // Promoted one by one they need less room: each frees some for the next when it leaves the cache.
                if isJoint { return .again }
                try stager.admission.makeRoomToOpen(needed, in: staging)
            }
            do throws(CacheError) {
                let content = try stager.decode(member.reader, to: &member.entry, in: staging, for: watcher)
                if isJoint { content.startWriting() }
                member.content = content
            } catch .item(let damage) {
                return .missed(try Miss(damage))
            } catch {
                // Nothing but the write tells of a quota that is used up.
                guard error.isOutOfSpace, let renaming = member.renaming else { throw error }
                member.entry = renaming
                return try verify(member)
            }
            return .stays
        }
    }

    /// Makes the decoded contents durable and enters all intents, in one transaction, in parallel: neither counts without
    /// the other, and until both are durable the cached copies are the items.
    private mutating func enterIntents() {
        guard !members.isEmpty else { return }
        let (stager, files, ledger) = (stager, files, ledger)
        let (intents, flushes) = intentsAndFlushes()
        let displaced: Set<KeyHash>
        do {
            displaced = try intents.get()
        } catch {
            forEach(where: { $0.entry.mode == .decode }) { member throws(CacheError) in
                try stager.discardUnlessEntered(member.entry, stagedIn: member.place.staging)
                return .stays
            }
            return leave(error)
        }
        areIntentsEntered = true
        let flushed = Dictionary(uniqueKeysWithValues: zip(members.map(\.index), flushes))
        forEach { member throws(CacheError) in
            member.content = nil
            member.isDisplaced = displaced.contains(member.entry.key.hash)
            guard case .failure(let failure) = flushed[member.index] else { return .stays }
            try ledger.remove(member.entry)
            try files.discardStaged(FilePath(member.entry.stagedName), in: member.place.staging)
            throw failure
        }
    }

    /// - Returns: Those whose places are other keys', and how the flush of each member ended.
    private func intentsAndFlushes()
        -> (Result<Set<KeyHash>, CacheError>, [Result<Set<KeyHash>, CacheError>])
    {
        func work(_ index: Int) -> [Result<Set<KeyHash>, CacheError>] {
            if index == 0 { return [Result { () throws(CacheError) in try put() }] }
            return members.map { $0.failureOfFlush(by: stager).map(Result.failure) ?? .success([]) }
        }
        let ended = stager.environment.parallelism > 1 ? inParallel(2, work) : [work(0), work(1)]
        return (ended[0][0], ended[1])
    }

    /// Enters all promotions in their current state.
    ///
    /// - Parameter state: The state in the ledger; `nil` if there must be no entries.
    /// - Returns: Those whose places are other keys'.
    @discardableResult
    private func put(replacing state: LedgerEntry.State? = nil) throws(CacheError) -> Set<KeyHash> {
        guard !members.isEmpty else { return [] }
        return try ledger.make(
            members.map { member in
                var old = member.entry
                old.state = state ?? old.state
                return LedgerChange(old: state == nil ? nil : old, new: member.entry)
            },
            // As for one item: recovery commits what a power cut undoes.
            flushing: state == nil)
    }

    /// Ends all promotions. If another process interfered with one of several, all are retried one by one.
    private mutating func leave(_ failure: CacheError) {
        if isJoint, case .overtaken = failure {
            members = []
            return
        }
        for member in members { fail(member.index, failure) }
        members = []
    }

    /// Takes the files that are renamed, and makes sure that each of the others is still the item. A store that comes later
    /// finds the intent, and waits for what becomes of it.
    private mutating func takeItems() {
        let (stager, files, ledger) = (stager, files, ledger)
        forEach { member throws(CacheError) in
            if Self.isRenamed(member) {
                if try stager.move(member.item, as: member.entry, into: member.place.staging) {
                    return .stays
                }
            } else {
                if try stager.copies.isThere(member.entry.key, member.item.identity) { return .stays }
                try files.discardStaged(FilePath(member.entry.stagedName), in: member.place.staging)
            }
            // Replaced by another store meanwhile, or removed.
            try ledger.remove(member.entry)
            return .again
        }
        // If the truncation survived a power cut and the new name did not, the item would be left without its footer.
        flush(\.place.staging, where: Self.isRenamed)
        forEach(where: Self.isRenamed) { member throws(CacheError) in
            let storedBytes = member.reader.footer.storedBytes
            if try stager.finishTaking(
                member.entry, storedBytes: storedBytes, in: member.place.staging)
            {
                return .stays
            }
            try ledger.remove(member.entry)
            return .again
        }
    }

    private static func isRenamed(_ member: Member) -> Bool { member.entry.mode == .rename }

    /// Publishes every file and makes the names durable. An item whose name is taken or rejected waits until the others
    /// are committed, since one of them may have taken it.
    private mutating func publish() {
        let (publisher, files) = (publisher, files)
        forEach { member throws(CacheError) in
            if !member.isDisplaced,
                case .isInPlace = try publisher.publishOnce(
                    member.entry, from: member.place.staging, in: member.place.folder)
            {
                try files.renewMark(of: member.entry, in: member.place.folder)
            } else {
                member.isWaiting = true
            }
            return .stays
        }
        flush(\.place.folder, where: { !$0.isWaiting })
        // The old names of folders, as in ``Publisher/commit(_:from:in:)``.
        flush(\.place.staging, where: { !$0.isWaiting && $0.entry.kind == .directory })
    }

    private mutating func commit() {
        let waiting = members.filter(\.isWaiting)
        members.removeAll(where: \.isWaiting)
        for index in members.indices { members[index].entry.state = .committed }
        do throws(CacheError) {
            try publisher.copies.drop(members.map(\.entry.key)) { () throws(CacheError) in
                try put(replacing: .intent)
            }
        } catch {
            leave(error)
        }
        for member in members {
            publisher.copies.catalog.noteAbsent(member.entry.key.hash)
            results[member.index] = .success(.hit(destinations.firstOpened(member.entry)))
        }
        members = waiting
    }

    private mutating func publishOneByOne() {
        for member in members {
            results[member.index] = Result { () throws(CacheError) in
                let committed = try publisher.publish(
                    member.entry, from: member.place.staging, in: member.place.folder,
                    holding: keys.map(\.hash), isDisplaced: isJoint ? nil : member.isDisplaced)
                return .hit(destinations.firstOpened(committed))
            }
        }
    }

    /// Performs one step for every item that `isMeant` selects. An item that fails is taken out.
    private mutating func forEach(
        where isMeant: (Member) -> Bool = { _ in true },
        _ step: (inout Member) throws(CacheError) -> Continuation
    ) {
        var leaving: Set<Int> = []
        for position in members.indices where isMeant(members[position]) {
            let index = members[position].index
            do throws(CacheError) {
                switch try step(&members[position]) {
                case .stays: continue
                case .missed(let miss): results[index] = .success(.miss(miss))
                case .again: break
                }
            } catch {
                fail(index, error)
            }
            leaving.insert(index)
        }
        if !leaving.isEmpty { members.removeAll { leaving.contains($0.index) } }
    }

    /// Flushes every folder once. When that fails, all items that need it are taken out.
    private mutating func flush(
        _ folder: (Member) -> Directory, where isMeant: (Member) -> Bool
    ) {
        let destinations = destinations
        var flushed: [ObjectIdentifier: Result<Void, FileSystemError>] = [:]
        forEach(where: isMeant) { member throws(CacheError) in
            let folder = folder(member)
            let result =
                flushed[ObjectIdentifier(folder)]
                ?? Result { () throws(FileSystemError) in
                    try folder.fileSystem.synchronize(folder.descriptor)
                }
            flushed[ObjectIdentifier(folder)] = result
            do throws(FileSystemError) {
                try result.get()
            } catch {
                throw .destination(destinations.path(of: member.entry), error)
            }
            return .stays
        }
    }

    /// Among several items, neither a shortage is reported nor, before any intent was entered, an error that the others
    /// may have caused: the item is retried alone, and others are evicted for it.
    private mutating func fail(_ index: Int, _ error: CacheError) {
        if isJoint, error.isOutOfSpace { return }
        if isJoint, case .destination(_, let error) = error, error.isNotFound { return }
        if isJoint, !areIntentsEntered {
            switch error {
            case .insufficientSpace: return
            case .fileSystem(let error), .destination(_, let error):
                if error.errno == .tooManyOpenFiles { return }
            default: break
            }
        }
        results[index] = .failure(error)
    }
}

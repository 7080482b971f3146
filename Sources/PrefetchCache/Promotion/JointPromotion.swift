internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import SystemPackage

/// Several first opens with one set of flushes.
///
/// The order is that of ``Promoter``, and each step is taken for all items before the next: all contents are
/// durable in staging before the intents are, in one transaction; the intents before a file is published; all
/// names before the promotions are committed, in one transaction; then the cached copies are removed. A crash
/// leaves the same kind of intents as single promotions do, which ``Recovery`` settles one by one.
///
/// An item that fails is taken out with its error, and the others continue.
struct JointPromotion {
    /// The most keys that are opened together. Each holds two descriptors.
    static let most = 32

    /// The longest content to decode, in bytes. A longer one takes more time to decode than to flush, gains
    /// nothing here, and would keep the locks of all.
    static let longestDecoded: Int64 = 4 << 20

    private struct Member {
        /// The index of the key in the list.
        let index: Int
        let reader: ItemReader
        let item: FileAttributes
        let place: PromotionPlace
        var entry: LedgerEntry
        /// Whether the name it is to have is taken or refused.
        var isWaiting = false
    }

    /// What happens next to an item.
    private enum Fate {
        case stays
        case missed(Miss)
        /// It is opened by itself after the others.
        case alone
    }

    /// A folder that items go to.
    private struct Site: Hashable {
        let area: Area
        let folder: FolderPath?
    }

    private let promoter: Promoter
    private let keys: [ItemKey]
    private let watcher: OpenWatcher
    private var members: [Member] = []
    /// The files of the items, by the index of the key.
    private var files: [Int: Descriptor] = [:]
    private var places: [Site: PromotionPlace] = [:]
    private var areIntentsEntered = false
    private var results: [Result<Lookup<OpenedItem>, CacheError>?]

    private var fileSystem: any FileSystem { promoter.fileSystem }

    /// - Parameter keys: The keys, whose locks the caller holds.
    init(_ promoter: Promoter, _ keys: [ItemKey], for watcher: OpenWatcher) {
        self.promoter = promoter
        self.keys = keys
        self.watcher = watcher
        results = keys.map { _ in nil }
    }

    /// - Returns: The outcome for each key.
    consuming func run() -> [Promoter.JointOutcome] {
        prepare()
        // A single item takes the same steps without this.
        if members.count > 1 {
            stage()
            enterIntents()
            takeRenamed()
            publish()
            commit()
            publishUnderOtherNames()
        }
        return results.enumerated().map { index, result in
            guard let result else { return .alone(leasing: files[index]) }
            if let file = files[index] { fileSystem.close(file) }
            return .settled(result)
        }
    }

    /// Opens the items, which leases them, and then the folders that they go to, for which others may make way.
    private mutating func prepare() {
        var seen: Set<ItemKey> = []
        for (index, key) in keys.enumerated() where seen.insert(key).inserted {
            do throws(CacheError) {
                guard try promoter.ledger.entry(for: key) == nil else { continue }
                files[index] = try promoter.folders.openItem(key.hash)
            } catch {
                fail(index, error)
            }
        }
        for (index, key) in keys.enumerated() {
            guard let file = files[index] else { continue }
            do {
                if let member = try prepared(key, file, index) { members.append(member) }
            } catch {
                fail(index, error)
            }
        }
    }

    /// - Returns: `nil` for everything but an item that is small or renamed.
    private mutating func prepared(_ key: ItemKey, _ file: Descriptor, _ index: Int)
        throws(CacheError) -> Member?
    {
        guard case .hit(let reader) = try promoter.reader(of: file, for: key) else { return nil }
        // Coordination works file by file.
        guard reader.footer.metadata.destination.area != .iCloudDrive else { return nil }
        let place = try place(for: reader.footer.metadata.destination)
        let (entry, item) = try promoter.intent(reader.footer, of: file, to: place)
        switch entry.mode {
        case .decode:
            guard entry.contentLength <= Self.longestDecoded else { return nil }
        case .rename:
            try promoter.requireWritable(place, for: entry)
        }
        return Member(index: index, reader: reader, item: item, place: place, entry: entry)
    }

    private mutating func place(for target: Destination) throws(CacheError) -> PromotionPlace {
        let site = Site(area: target.area, folder: target.folder)
        if let place = places[site] { return place }
        if places.isEmpty { try promoter.admission.makeRoomToOpen(0, in: promoter.support.staging) }
        let place = try promoter.place(for: target, holding: keys.map(\.hash))
        places[site] = place
        return place
    }

    /// Decodes items into staging, durably, and verifies those that are renamed.
    private mutating func stage() {
        let (promoter, watcher) = (promoter, watcher)
        forEach { member throws(CacheError) in
            try watcher.requireInterest()
            guard member.entry.mode == .decode else {
                return try promoter.damage(member.reader, for: watcher).map(Fate.missed)
                    ?? .stays
            }
            // One after the other they need less room: each makes some for the next when it leaves the cache.
            guard try promoter.admission.hasRoomToOpen(member.entry.contentLength, in: member.place.staging)
            else { return .alone }
            do throws(CacheError) {
                try promoter.decode(
                    member.reader, to: &member.entry, in: member.place.staging, for: watcher
                ) { entry, file throws(CacheError) in try promoter.flush(file, for: entry) }
            } catch .item(let damage) {
                return .missed(try Miss(damage))
            }
            return .stays
        }
    }

    /// Enters all intents in one transaction.
    private mutating func enterIntents() {
        areIntentsEntered = true
        let promoter = promoter
        guard let failure = put() else { return }
        forEach(where: { $0.entry.mode == .decode }) { member throws(CacheError) in
            try promoter.discardUnlessEntered(member.entry, stagedIn: member.place.staging)
            return .stays
        }
        leave(failure)
    }

    /// Enters all promotions in their present state.
    ///
    /// - Parameter state: The state that they are in.
    private func put(replacing state: LedgerEntry.State? = nil) -> CacheError? {
        guard !members.isEmpty else { return nil }
        do throws(CacheError) {
            try promoter.ledger.make(
                members.map { member in
                    var old = member.entry
                    old.state = state ?? old.state
                    return LedgerChange(old: state == nil ? nil : old, new: member.entry)
                })
            return nil
        } catch {
            return error
        }
    }

    /// Ends all promotions. Those that another process has overtaken are opened one by one.
    private mutating func leave(_ failure: CacheError) {
        if case .overtaken = failure {
            members = []
            return
        }
        for member in members { fail(member.index, failure) }
        members = []
    }

    private mutating func takeRenamed() {
        let promoter = promoter
        forEach(where: Self.isRenamed) { member throws(CacheError) in
            if try promoter.move(member.item, as: member.entry, into: member.place.staging) { return .stays }
            // Replaced by another store meanwhile.
            try promoter.ledger.remove(member.entry)
            return .alone
        }
        // The names are flushed before the files are cut, as for a single item.
        flush(\.place.staging, where: Self.isRenamed)
        forEach(where: Self.isRenamed) { member throws(CacheError) in
            if try promoter.finishTaking(member.entry, of: member.item, in: member.place.staging) {
                return .stays
            }
            try promoter.ledger.remove(member.entry)
            return .alone
        }
    }

    private static func isRenamed(_ member: Member) -> Bool { member.entry.mode == .rename }

    /// Publishes every file and makes the names durable. An item whose name is taken or refused waits until the
    /// others are committed: it may be one of them that took the name.
    private mutating func publish() {
        let promoter = promoter
        forEach { member throws(CacheError) in
            let outcome = try promoter.publishOnce(
                member.entry, from: member.place.staging, in: member.place.folder)
            if case .isInPlace(let entry) = outcome {
                member.entry = entry
                try promoter.renewMark(of: entry, in: member.place.folder)
            } else {
                member.isWaiting = true
            }
            return .stays
        }
        flush(\.place.folder, where: { !$0.isWaiting })
    }

    private mutating func commit() {
        let waiting = members.filter(\.isWaiting)
        members.removeAll(where: \.isWaiting)
        for index in members.indices { members[index].entry.state = .committed }
        if let failure = put(replacing: .intent) { leave(failure) }
        for member in members {
            promoter.removeCommitted(member.entry.key)
            results[member.index] = .success(.hit(promoter.opened(member.entry, isFirstOpen: true)))
        }
        members = waiting
    }

    private mutating func publishUnderOtherNames() {
        for member in members {
            results[member.index] = Result { () throws(CacheError) in
                let committed = try promoter.publish(
                    member.entry, from: member.place.staging, in: member.place.folder)
                return .hit(promoter.opened(committed, isFirstOpen: true))
            }
        }
    }

    /// Takes one step with every item that `isMeant` selects. An item that fails is taken out.
    private mutating func forEach(
        where isMeant: (Member) -> Bool = { _ in true },
        _ step: (inout Member) throws(CacheError) -> Fate
    ) {
        var staying: [Member] = []
        for var member in members {
            guard isMeant(member) else {
                staying.append(member)
                continue
            }
            do throws(CacheError) {
                switch try step(&member) {
                case .stays: staying.append(member)
                case .missed(let miss): results[member.index] = .success(.miss(miss))
                case .alone: break
                }
            } catch {
                fail(member.index, error)
            }
        }
        members = staying
    }

    /// Flushes every folder once. When that fails, all items that need it are taken out.
    private mutating func flush(
        _ folder: (Member) -> Directory, where isMeant: (Member) -> Bool
    ) {
        let promoter = promoter
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
                throw .destination(promoter.path(of: member.entry), error)
            }
            return .stays
        }
    }

    /// A shortage is not reported, nor an error that the other items may have caused as long as no intent was
    /// entered: the item is opened alone, for which others make way.
    private mutating func fail(_ index: Int, _ error: CacheError) {
        if error.isOutOfSpace { return }
        if !areIntentsEntered {
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

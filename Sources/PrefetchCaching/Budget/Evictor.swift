internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchVolumeCapacity
internal import Synchronization

/// Removes files until there is enough space: expired items first, then in the order of the policy.
///
/// Files are unlinked first and their rows deleted second, so that eviction works with no byte free. Every step of the
/// loop deletes a row or skips it for good: an item that cannot be removed, or is being read, does not stall eviction,
/// and one that is already gone only loses its row.
final class Evictor: Sendable {
    private static let batch = 256
    /// A generous bound on what a full volume needs for the journal of one transaction.
    private static let emergencyBytes: Int64 = 1 << 20

    let files: any CatalogedFiles
    private let watch: VolumeWatch?
    private let fixed: EvictionPolicyChoice
    let history: History
    let environment: CacheEnvironment
    private let events: EventHub

    /// - Parameters:
    ///   - watch: Where policy and ceiling come from; `nil` for a fixed policy and no ceiling.
    init(
        files: any CatalogedFiles, following watch: VolumeWatch?, fixed: EvictionPolicyChoice = .lru,
        history: History, environment: CacheEnvironment, events: EventHub
    ) {
        self.files = files
        self.watch = watch
        self.fixed = fixed
        self.history = history
        self.environment = environment
        self.events = events
    }

    /// The policy in force.
    var choice: EvictionPolicyChoice { watch?.configuration.lastKnown.evictionPolicy ?? fixed }

    /// The policy in force, for one eviction.
    var policy: any EvictionPolicy {
        switch choice {
        case .lru: InOrder()
        case .value: ByValue(history.knowledge(), now: environment.now())
        }
    }

    /// Makes sure that the tables are as the policy in force needs them.
    func prepare(_ transaction: CatalogTransaction) throws {
        if choice == .value { try transaction.indexSources(true) }
    }

    /// Drops what only another policy needs.
    func tidy(_ transaction: CatalogTransaction) throws {
        if choice != .value { try transaction.indexSources(false) }
    }

    /// The most that all files may be charged now, in bytes, or `nil` if unknown.
    func ceiling(_ transaction: CatalogTransaction) -> Int64? { watch?.ceiling(transaction) }

    /// The running totals of one call.
    struct Tally {
        let measure: EvictionMeasure
        /// Why items are evicted that have not expired.
        let reason: Departure
        private(set) var freed: Int64 = 0

        init(_ measure: EvictionMeasure, because reason: Departure) {
            self.measure = measure
            self.reason = reason
        }

        mutating func count(_ victim: Victim, _ removal: Removal) {
            freed += measure.bytes(of: victim, removal)
        }

        /// The first victims, as many as suffice for `bytes`.
        func part(of victims: ArraySlice<Victim>, for bytes: Int64) -> ArraySlice<Victim> {
            var sum = freed
            return victims.prefix { victim in
                defer { sum += measure.bytes(of: victim) }
                return sum < bytes
            }
        }
    }

    /// Evicts until at least `bytes` were freed, or nothing more can be evicted.
    ///
    /// - Returns: The freed bytes, as `measure` counts them.
    func evict(
        atLeast bytes: Int64, measuredBy measure: EvictionMeasure = .charge,
        because reason: Departure = .budget, from transaction: CatalogTransaction
    ) throws -> Int64 {
        guard bytes > 0 else { return 0 }
        var tally = Tally(measure, because: reason)
        try evictExpired(atLeast: bytes, &tally, from: transaction)
        try offerInOrder(from: transaction, while: { tally.freed < bytes }) { victims in
            try evict(victims, atLeast: bytes, &tally, from: transaction).left
        }
        return tally.freed
    }

    /// Returns how much of `bytes` of the volume eviction could free now. Evicts nothing.
    func attainable(_ bytes: Int64, in transaction: CatalogTransaction) throws -> Int64 {
        try RoomForRequest(self, in: transaction).preview(bytes).attainable ?? bytes
    }

    /// Evicts expired items and partials.
    func evictExpired(from transaction: CatalogTransaction) throws {
        var tally = Tally(.charge, because: .expired)
        try evictExpired(atLeast: .max, &tally, from: transaction)
    }

    func evictExpired(atLeast bytes: Int64, _ tally: inout Tally, from transaction: CatalogTransaction) throws
    {
        try offerExpired(from: transaction, while: { tally.freed < bytes }) { victims in
            try evict(victims, atLeast: bytes, &tally, because: .expired, from: transaction).left
        }
    }

    /// Offers the files that have expired, as long as more are wanted.
    ///
    /// - Parameter offer: Takes the next ones, and returns those that stay.
    private func offerExpired(
        from transaction: CatalogTransaction, while isWanted: () -> Bool,
        _ offer: ([Victim]) throws -> [Victim]
    ) throws {
        let now = environment.now()
        var passedOver = 0
        while isWanted() {
            let victims = try transaction.expiredVictims(at: now, atMost: Self.batch, passingOver: passedOver)
            guard !victims.isEmpty else { break }
            passedOver += try offer(victims).count
        }
    }

    /// As ``offerExpired(from:while:_:)``, for all files in the order of the policy.
    private func offerInOrder(
        from transaction: CatalogTransaction, while isWanted: () -> Bool,
        _ offer: ([Victim]) throws -> [Victim]
    ) throws {
        let policy = policy
        var passedOver: Set<KeyHash> = []
        var limit = 1
        while isWanted() {
            let victims = try policy.victims(atMost: limit, passingOver: passedOver, in: transaction)
            guard !victims.isEmpty else { break }
            passedOver.formUnion(try offer(victims).lazy.map(\.hash))
            limit = min(limit * 4, Self.batch)
        }
    }

    /// Evicts victims in their order until they suffice for `bytes`, together with what was freed before.
    ///
    /// - Returns: Those that are gone, and those that are leased or could not be removed.
    private func evict(
        _ victims: [Victim], atLeast bytes: Int64, _ tally: inout Tally, because reason: Departure? = nil,
        from transaction: CatalogTransaction
    ) throws -> (gone: [Victim], left: [Victim]) {
        var (gone, left): ([Victim], [Victim]) = ([], [])
        var rest = victims[...]
        while tally.freed < bytes, !rest.isEmpty {
            let chosen = Array(tally.part(of: rest, for: bytes))
            rest = rest.dropFirst(chosen.count)
            var removals: [(Victim, Removal)] = []
            for (victim, result) in zip(chosen, files.remove(chosen)) {
                if let removal = removal(of: victim, result) {
                    removals.append((victim, removal))
                } else {
                    left.append(victim)
                }
            }
            try forget(removals, &tally, because: reason, in: transaction)
            gone += removals.map(\.0)
        }
        return (gone, left)
    }

    /// - Returns: How the file has gone; `nil` if it is left.
    private func removal(of victim: Victim, _ result: Result<Removal, FileSystemError>) -> Removal? {
        switch result {
        case .success(.leased): return nil
        case .success(let removal): return removal
        case .failure(let error):
            warn(victim, error)
            return nil
        }
    }

    /// Evicts one victim.
    ///
    /// - Parameter claim: The claim on it, if there is one.
    /// - Returns: Whether the file is gone.
    func evict(_ victim: Victim, _ tally: inout Tally, claim: Claim?, from transaction: CatalogTransaction)
        throws -> Bool
    {
        let result =
            if let claim {
                Result { () throws(FileSystemError) in try files.remove(victim, claim) }
            } else {
                files.removal(of: victim)
            }
        guard let removal = removal(of: victim, result) else { return false }
        try forget([(victim, removal)], &tally, in: transaction)
        return true
    }

    /// Deletes the rows of files that are gone.
    func forget(
        _ removals: [(Victim, Removal)], _ tally: inout Tally, because reason: Departure? = nil,
        in transaction: CatalogTransaction
    ) throws {
        func hashes(of wanted: Removal) -> [KeyHash] {
            removals.compactMap { victim, removal in removal == wanted ? victim.hash : nil }
        }
        try transaction.deleteRows(hashes(of: .removed), because: reason ?? tally.reason)
        // A file that the system purged was not evicted by us.
        try transaction.deleteRows(hashes(of: .gone), because: .purged)
        for (victim, removal) in removals {
            tally.count(victim, removal)
            if removal == .removed { noteEvicted(victim) }
        }
    }

    /// Unlinks a few of the least recently used items, and leaves their rows to the next transaction.
    ///
    /// - Returns: The items that were unlinked.
    func unlinkLeastRecentlyUsed(from transaction: CatalogTransaction) throws -> [KeyHash] {
        var unlinked: [KeyHash] = []
        var tally = Tally(.charge, because: .budget)
        var seen: Set<KeyHash> = []
        while tally.freed < Self.emergencyBytes {
            let victims = try transaction.victimsInOrder(atMost: Self.batch, passingOver: seen)
            guard !victims.isEmpty else { break }
            let chosen = Array(tally.part(of: victims[...], for: Self.emergencyBytes))
            seen.formUnion(chosen.map(\.hash))
            for (victim, result) in zip(chosen, files.remove(chosen)) {
                guard removal(of: victim, result) == .removed else { continue }
                unlinked.append(victim.hash)
                tally.count(victim, .removed)
                noteEvicted(victim)
            }
        }
        return unlinked
    }

    /// Tells at once, whatever becomes of the transaction: the file is gone.
    private func noteEvicted(_ victim: Victim) {
        guard victim.kind == .item, let key = victim.itemKey else { return }
        events.send(.evicted(key, chargedBytes: victim.chargedBytes))
    }

    func warn(_ victim: Victim, _ error: FileSystemError) {
        environment.logger.warning(
            "An item cannot be evicted.", metadata: ["key": "\(victim.key)", "error": "\(error)"])
    }
}

/// How a removed file counts towards the requested bytes.
enum EvictionMeasure: Sendable {
    /// Its full charge, even if it was already gone: what counts is that its row is deleted.
    case charge
    /// What the volume gains: the charge without its fixed overhead, and nothing for a file that was already gone.
    case blocks

    func bytes(of victim: Victim, _ removal: Removal = .removed) -> Int64 {
        switch self {
        case .charge: victim.chargedBytes
        case .blocks: removal == .removed ? victim.chargedBytes - ChargedLength.overhead : 0
        }
    }

    /// The sum over all evictable files with a row. An upper bound: some may be leased or gone.
    func evictableBytes(_ transaction: CatalogTransaction) throws -> Int64 {
        let charged = try transaction.evictableBytes()
        guard self == .blocks else { return charged }
        return charged - (try transaction.evictableFiles()) * ChargedLength.overhead
    }
}

/// Evicting what a caller selects, rather than making room.
extension Evictor {
    /// Evicts what a request selects, in the order of eviction. Leased files stay.
    ///
    /// - Parameter isDryRun: Whether to change nothing.
    /// - Returns: The files that were evicted, or would be.
    func evict(_ request: EvictionRequest, isDryRun: Bool, from transaction: CatalogTransaction) throws
        -> [EvictedFile]
    {
        let wanted = try wantedBytes(request, transaction)
        guard wanted > 0 else { return [] }
        var tally = Tally(.charge, because: .request)
        var evicted: [EvictedFile] = []
        // Those that a dry run has seen: what has expired is in the order of the policy as well.
        var seen: Set<KeyHash> = []
        func isWanted() -> Bool { tally.freed < wanted }
        func offer(_ victims: [Victim]) throws -> [Victim] {
            guard isDryRun else {
                let batch = try evict(victims, atLeast: wanted, &tally, from: transaction)
                evicted += batch.gone.map(EvictedFile.init)
                return batch.left
            }
            for victim in victims
            where try isWanted() && seen.insert(victim.hash).inserted && isRemovable(victim) {
                tally.count(victim, .removed)
                evicted.append(EvictedFile(victim))
            }
            return victims
        }
        if request.isGeneral {
            try offerExpired(from: transaction, while: isWanted, offer)
            try offerInOrder(from: transaction, while: isWanted, offer)
        } else {
            var rest = try transaction.items(
                ofSource: request.source, storedBefore: request.storedBeforeMilliseconds)[...]
            while isWanted(), !rest.isEmpty {
                _ = try offer(Array(rest.prefix(Self.batch)))
                rest = rest.dropFirst(Self.batch)
            }
        }
        return evicted
    }

    /// Whether a victim could be removed now. A file that is already gone would only lose its row.
    func isRemovable(_ victim: Victim) throws -> Bool {
        guard case .claimed(let claim) = try files.claim(victim) else { return false }
        files.release(claim)
        return true
    }

    private func wantedBytes(_ request: EvictionRequest, _ transaction: CatalogTransaction) throws -> Int64 {
        switch request.amount {
        case .all: return .max
        case .atLeast(let count): return count.bytes
        case .downTo(let count):
            let charged =
                if let source = request.source {
                    try transaction.itemBytes(of: source)
                } else {
                    try transaction.itemBytes()
                }
            return max(0, charged - count.bytes)
        }
    }
}

extension EvictedFile {
    init(_ victim: Victim) {
        let kind: Kind =
            switch victim.kind {
            case .item, .newerFormat: .item
            case .partial, .newerPartial: .partial
            case .quarantined: .quarantined
            }
        self.init(kind: kind, key: victim.itemKey, chargedBytes: victim.chargedBytes)
    }
}

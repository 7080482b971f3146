internal import PrefetchFileSystem
internal import PrefetchItemFormat

/// The victims of one request, found before the first of them is removed.
///
/// No item is evicted for a request that cannot be met. So victims are claimed until their sum suffices, which prevents
/// leases meanwhile, and only then are they removed. Claims are limited to ``mostClaims``; further victims are only
/// checked for leases, and if one is leased afterwards, another victim is found before any more are removed.
///
/// Expired and missing files are removed in any case.
final class RoomForRequest {
    /// The most files that are held open at a time.
    static let mostClaims = 64
    private static let largestBatch = 1024

    private let evictor: Evictor
    private let policy: any EvictionPolicy
    private let measure: EvictionMeasure
    private let newcomer: Newcomer?
    private let worthOfNewcomer: Double?
    private let isPartial: Bool
    private let transaction: CatalogTransaction
    private var tally: Evictor.Tally
    /// The victims in order. Those before `next` have been removed.
    private var found: [(victim: Victim, claim: Claim?)] = []
    private var next = 0
    /// The end of those that were listed before the first of them is removed.
    private var listed = 0
    private var foundBytes: Int64 = 0
    /// Files that turned out to be gone and still have a row.
    private var gone: [Victim] = []
    private var goneBytes: Int64 = 0
    /// What the policy has returned and was not yet needed. A policy need not return it again.
    private var offered: ArraySlice<Victim> = []
    /// Files with a row that the policy has returned, and must not return again.
    private var seen: Set<KeyHash> = []
    /// Files that were found through the newcomer's round, and the end of what is left of it.
    private var foundInRound: Set<KeyHash> = []
    private var endOfRound = Int.max
    /// The bytes of files with a row that cannot be removed.
    private var stuckBytes: Int64 = 0
    /// The most that could be removed now, as far as is known.
    private var attainableBytes: Int64 = 0
    /// What keeps the newcomer from being admitted, if it is not the mere lack of bytes.
    private var obstacle: Refusal?
    private var isOutweighed = false
    /// Whether what precedes the newcomer in its round was passed over.
    private var isHeldByRound = false
    /// Whether a file was passed over for now: it was leased, or could not be removed.
    private var isHeldForNow = false

    /// - Parameters:
    ///   - newcomer: Only what gives way to it is evicted, and bytes are charged bytes; `nil` for no limit, and bytes of the
    ///     volume.
    ///   - isPartial: Whether to evict what there is when it does not suffice.
    init(
        _ evictor: Evictor, for newcomer: Newcomer? = nil, isPartial: Bool = false,
        in transaction: CatalogTransaction
    ) {
        self.evictor = evictor
        let policy = evictor.policy
        self.policy = policy
        measure = newcomer == nil ? .blocks : .charge
        self.newcomer = newcomer
        worthOfNewcomer = newcomer.flatMap { policy.worth(of: $0) }
        self.isPartial = isPartial
        self.transaction = transaction
        tally = Evictor.Tally(measure, because: .budget)
    }

    /// Evicts until at least `bytes` were freed, or evicts nothing when that is impossible.
    ///
    /// - Parameters:
    ///   - step: The bytes after which `isHelping` is first called; doubled each time.
    ///   - isHelping: Whether eviction is helping, given the bytes that were freed so far.
    func make(
        _ bytes: Int64, step: Int64 = .max, whileHelping isHelping: (Int64) throws -> Bool = { _ in true }
    ) throws -> RoomMade {
        defer { releaseClaims() }
        try evictor.evictExpired(atLeast: bytes, &tally, from: transaction)
        var (mark, step) = (tally.freed, step)
        var isPossible = true
        while tally.freed < bytes {
            if !isPartial || next == found.count { isPossible = try find(bytes) }
            guard isPossible || isPartial && next < found.count, tally.freed < bytes else { break }
            if tally.freed - mark >= step {
                guard try isHelping(tally.freed) else { break }
                mark = tally.freed
                step = step.doubled
            }
            try removeNext()
        }
        return RoomMade(
            freed: tally.freed, attainable: isPossible ? nil : tally.freed + attainableBytes,
            obstacle: isPossible ? nil : obstacle, isOutweighed: !isPossible && isOutweighed)
    }

    /// Returns what ``make(_:step:whileHelping:)`` would, except that nothing is freed.
    func preview(_ bytes: Int64) throws -> RoomMade {
        guard bytes > 0 else { return RoomMade(freed: 0, attainable: nil) }
        defer { releaseClaims() }
        try look(for: bytes)
        return RoomMade(
            freed: 0, attainable: attainableBytes >= bytes ? nil : attainableBytes, obstacle: obstacle,
            isOutweighed: isOutweighed)
    }

    private func releaseClaims() {
        for case let claim? in found[next...].map(\.claim) { evictor.files.release(claim) }
    }

    /// Finds victims until they suffice, together with what was freed before.
    ///
    /// - Returns: Whether they do.
    private func find(_ bytes: Int64) throws -> Bool {
        if tally.freed + foundBytes >= bytes { return true }
        try look(for: bytes - tally.freed)
        try forgetGone()
        return tally.freed + foundBytes >= bytes
    }

    private func look(for bytes: Int64) throws {
        (obstacle, isOutweighed) = (nil, false)
        let evictable = try measure.evictableBytes(transaction)
        if let newcomer, !isPartial,
            let left = newcomer.turn?.left(of: evictable, forPriority: newcomer.priority),
            left < bytes
        {
            (obstacle, attainableBytes) = (.lowValue, left)
            return
        }
        var isOver = false
        defer {
            attainableBytes = isOver ? foundBytes + goneBytes : evictable - stuckBytes
            // What is leased may be had soon, and nothing would tell.
            if attainableBytes < bytes, isHeldByRound, !isHeldForNow, let newcomer {
                newcomer.turn?.noteLeft(attainableBytes, of: evictable, forPriority: newcomer.priority)
            }
        }
        var limit = 1
        // Ends early when even removing everything that is left would not suffice.
        while foundBytes + goneBytes < bytes, isPartial || evictable - stuckBytes >= bytes {
            if offered.isEmpty {
                offered = try policy.victims(atMost: limit, passingOver: seen, in: transaction)[...]
                limit = min(limit * 4, Self.largestBatch)
            }
            guard let victim = offered.first else { return }
            if let newcomer, victim.kind == .item, let reason = refusal(of: newcomer, by: victim) {
                if evictable - stuckBytes >= bytes { obstacle = reason }
                isOver = true
                return
            }
            offered.removeFirst()
            seen.insert(victim.hash)
            if let victim = try choice(of: victim) { claim(victim) }
        }
    }

    /// Why a newcomer displaces neither a victim nor anything after it in the order of the policy; `nil` if it may.
    private func refusal(of newcomer: Newcomer, by victim: Victim) -> Refusal? {
        if newcomer.mode == .onlyIntoFreeSpace { return .lowValue }
        if victim.priority > newcomer.priority { return .lowPriority(newcomer.priority) }
        guard victim.priority == newcomer.priority, let worth = worthOfNewcomer, let other = victim.worth
        else {
            return nil
        }
        isOutweighed = other > worth
        return isOutweighed ? .lowValue : nil
    }

    /// The file to evict when the policy has chosen a victim: of the newcomer's own round the last one in place of any
    /// that follows the newcomer, and none that precedes it.
    private func choice(of victim: Victim) throws -> Victim? {
        guard let newcomer, let turn = newcomer.turn, victim.kind == .item,
            let position = turn.round.position(of: victim.hash)
        else { return victim }
        if position > turn.position {
            while let last = turn.round.last(before: endOfRound, after: turn.position) {
                endOfRound = last.position
                if let found = try transaction.victim(last.hash), found.priority <= newcomer.priority {
                    foundInRound.insert(found.hash)
                    return found
                }
            }
        } else if position < turn.position, victim.priority == newcomer.priority {
            stuckBytes += measure.bytes(of: victim)
            (obstacle, isHeldByRound) = (.lowValue, true)
            return nil
        }
        return foundInRound.contains(victim.hash) ? nil : victim
    }

    /// Checks whether a victim can be removed, and claims it unless there are enough claims.
    private func claim(_ victim: Victim) {
        do throws(FileSystemError) {
            switch try evictor.files.claim(victim) {
            case .gone:
                gone.append(victim)
                goneBytes += measure.bytes(of: victim, .gone)
                stuckBytes += measure.bytes(of: victim) - measure.bytes(of: victim, .gone)
            case .leased: passOver(victim)
            case .claimed(let claim):
                let isKept = found.count - next < Self.mostClaims
                if !isKept { evictor.files.release(claim) }
                found.append((victim, isKept ? claim : nil))
                foundBytes += measure.bytes(of: victim)
            }
        } catch {
            evictor.warn(victim, error)
            passOver(victim)
        }
    }

    private func passOver(_ victim: Victim) {
        stuckBytes += measure.bytes(of: victim)
        isHeldForNow = true
    }

    private func forgetGone() throws {
        try evictor.forget(gone.map { ($0, .gone) }, &tally, in: transaction)
        for victim in gone {
            seen.remove(victim.hash)
            stuckBytes -= measure.bytes(of: victim) - measure.bytes(of: victim, .gone)
        }
        gone = []
        goneBytes = 0
    }

    private func removeNext() throws {
        if next >= listed {
            evictor.files.willRemove(found[next...].lazy.map(\.victim))
            listed = found.count
        }
        let (victim, claim) = found[next]
        next += 1
        defer { if let claim { evictor.files.release(claim) } }
        foundBytes -= measure.bytes(of: victim)
        if try evictor.evict(victim, &tally, claim: claim, from: transaction) {
            seen.remove(victim.hash)
        } else {
            passOver(victim)
        }
    }
}

/// The result of making room.
struct RoomMade {
    /// Bytes that were freed.
    let freed: Int64
    /// When the request could not be met, the most bytes that could be freed, as far as is known; otherwise
    /// `nil`.
    let attainable: Int64?
    /// Why the request could not be met, if enough was left that does not give way to the newcomer.
    var obstacle: Refusal?
    /// Whether that is because what is left is worth more, according to the policy.
    var isOutweighed = false
}

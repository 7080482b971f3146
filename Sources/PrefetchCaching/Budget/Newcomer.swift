internal import PrefetchFileSystem
package import PrefetchItemFormat
internal import Synchronization

/// What an item may displace when it is stored.
public enum AdmissionMode: String, Hashable, Sendable, CaseIterable {
    /// Items that are not worth more, in the order of the eviction policy. The default.
    case evicting
    /// Nothing: the item is stored only if there is free space.
    case onlyIntoFreeSpace
}

/// An item that needs room, as far as it is weighed against the items that would be evicted for it.
struct Newcomer: Sendable {
    let key: ItemKey
    let source: String
    let priority: Float
    var mode = AdmissionMode.evicting
    var turn: Turn?

    /// A newcomer that items of equal priority give way to.
    init(_ metadata: ItemMetadata, _ terms: AdmissionTerms = AdmissionTerms()) {
        key = metadata.key
        source = metadata.source
        priority = metadata.priority
        mode = terms.mode
        turn = terms.turn
    }
}

/// On which terms an item is admitted.
package struct AdmissionTerms: Sendable {
    package var mode: AdmissionMode
    package var turn: Turn?
    /// Whether what a paused source sends is refused.
    package var usesGate: Bool

    package init(_ mode: AdmissionMode = .evicting, _ turn: Turn? = nil, usesGate: Bool = false) {
        self.mode = mode
        self.turn = turn
        self.usesGate = usesGate
    }
}

/// The place of an item in a ``Round``.
package struct Turn: Sendable {
    let round: Round
    let position: Int

    /// The most bytes that gave way to an item of the round that comes no later and has no lower priority, when it was
    /// refused for what precedes it; `nil` if none was. Spares each of a long list's remaining items the same search.
    ///
    /// - Parameter evictable: All bytes that may be evicted. When they change, the search begins anew.
    func left(of evictable: Int64, forPriority priority: Float) -> Int64? {
        round.state.withLock { state in
            guard let refused = state.refused, refused.evictable == evictable,
                refused.position <= position, refused.priority >= priority
            else { return nil }
            return refused.left
        }
    }

    func noteLeft(_ bytes: Int64, of evictable: Int64, forPriority priority: Float) {
        round.state.withLock { $0.refused = (position, priority, bytes, evictable) }
    }

    /// The mean length of the round's items, as far as it is known, in bytes of content; `nil` with fewer than three.
    var usualLength: Int64? {
        round.state.withLock { $0.lengths.count < 3 ? nil : Int64(min($0.lengths.mean, 1e18)) }
    }

    /// Notes how long an item of the round is, in bytes of content.
    package func noteLength(_ bytes: Int64) {
        round.state.withLock { state in
            state.lengths.count += 1
            state.lengths.mean += (Double(bytes) - state.lengths.mean) / state.lengths.count
        }
    }

    /// The charge of the smallest item of the round that was refused once its length was known; `nil` if none was. What the
    /// source usually sends need not be requested then if that would not fit.
    var leastRefused: Int64? { round.state.withLock(\.leastRefused) }

    func noteRefused(_ bytes: Int64) {
        round.state.withLock { $0.leastRefused = min($0.leastRefused ?? .max, bytes) }
    }
}

/// One pass over the list of a source, in order of preference: an item displaces none that precedes it in the list, and
/// of those that follow the last one first. So a list that exceeds the budget ends with its beginning in the cache, and
/// an unchanged list changes nothing the next time.
package final class Round: Sendable {
    fileprivate struct State: Sendable {
        var positions: [KeyHash: Int] = [:]
        /// In the order of the list.
        var hashes: [KeyHash] = []
        var refused: (position: Int, priority: Float, left: Int64, evictable: Int64)?
        var leastRefused: Int64?
        var lengths = (count: 0.0, mean: 0.0)
    }

    fileprivate let state = UnfairMutex(State())

    package init() {}

    /// Adds a key at the end of the list; one that is already there keeps its place.
    package func add(_ key: ItemKey) -> Turn {
        state.withLock { state in
            let position = state.positions[key.hash] ?? state.hashes.count
            if position == state.hashes.count {
                state.positions[key.hash] = position
                state.hashes.append(key.hash)
            }
            return Turn(round: self, position: position)
        }
    }

    package func contains(_ key: ItemKey) -> Bool { position(of: key.hash) != nil }

    func position(of hash: KeyHash) -> Int? { state.withLock { $0.positions[hash] } }

    /// The last item of the list before `end` and after `position`, and its own position.
    func last(before end: Int, after position: Int) -> (hash: KeyHash, position: Int)? {
        state.withLock { state in
            let last = min(end, state.hashes.count) - 1
            return last > position ? (state.hashes[last], last) : nil
        }
    }
}

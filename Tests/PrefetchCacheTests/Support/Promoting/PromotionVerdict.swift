import Synchronization

/// What was found out of order after a promotion that was cut short.
struct PromotionFault: Error, Sendable, CustomStringConvertible {
    enum Kind: String, Sendable, CaseIterable {
        case lost, duplicated, partial
        case foreignTouched = "foreign touched"
        /// Content from the cache that is not what was stored.
        case wrong
        /// Something in staging that nobody needs.
        case leftover
        /// An error that had no reason to be.
        case failed
    }

    let kind: Kind
    let description: String
}

/// Adds up many ends of many processes.
final class PromotionTally: Sendable {
    private struct State {
        var ends = 0
        var openings = 0
        var faults: [PromotionFault] = []
    }

    private let ends: String
    private let state = Mutex(State())

    /// - Parameter ends: What the ends are called: kills, or power cuts.
    init(_ ends: String) { self.ends = ends }

    var count: Int { state.withLock { $0.ends } }
    /// Items that had been handed over before.
    var openings: Int { state.withLock { $0.openings } }
    var faults: [PromotionFault] { state.withLock { $0.faults } }

    func add(ends: Int, openings: Int, _ faults: [PromotionFault]) {
        state.withLock {
            $0.ends += ends
            $0.openings += openings
            $0.faults += faults
        }
    }

    var summary: String {
        state.withLock { state in
            let counts = PromotionFault.Kind.allCases.map { kind in
                "\(kind.rawValue) \(state.faults.count { $0.kind == kind })"
            }
            return "\(ends): \(state.ends), opened before \(state.openings), "
                + counts.joined(separator: ", ")
        }
    }
}

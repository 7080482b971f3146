internal import Synchronization

/// What processes have said they did, and what of it each may have had in memory only when it was killed.
final class History: Sendable {
    /// For so long. It is about a second; on a busy machine some more.
    private static let unwritten = Duration.seconds(3)

    private struct State {
        /// The acts of each living process, with the times at which they were heard of.
        var lives: [Int: [(act: String, time: ContinuousClock.Instant)]] = [:]
        var lost: [String: Int] = [:]
        var kills = 0
    }

    private let state = Mutex(State())

    /// How often each thing was done without being sure to be counted.
    var lost: [String: Int] { state.withLock { $0.lost } }
    var kills: Int { state.withLock { $0.kills } }

    func add(_ note: Note, by process: Int) {
        guard case .did(let act, _, _) = note else { return }
        state.withLock { $0.lives[process, default: []].append((act, .now)) }
    }

    /// Notes that a process was killed at a time, and that all it said was heard.
    func killed(_ process: Int, at time: ContinuousClock.Instant) {
        state.withLock { state in
            state.kills += 1
            for entry in state.lives.removeValue(forKey: process) ?? []
            where entry.time > time - Self.unwritten {
                state.lost[entry.act, default: 0] += 1
            }
        }
    }
}

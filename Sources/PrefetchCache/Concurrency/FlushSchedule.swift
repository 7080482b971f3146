internal import Logging
internal import Synchronization

/// When the cache is looked after behind its users' backs: about a second after the first change that
/// is only in memory, at once when much waits, and once a minute while nothing happens.
final class FlushSchedule: Sendable {
    static let delay = Duration.seconds(1)
    static let idleDelay = Duration.seconds(60)

    private enum State {
        case idle
        /// Within ``delay``, or at once.
        case scheduled(isUrgent: Bool)
        case stopped
    }

    /// Runs a piece of work later, on a thread that may block.
    typealias Later = @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void

    private let engine: Engine
    private let later: Later
    private let state = Mutex(State.idle)
    /// Counts the pieces of work, so that an idle minute is told from a busy one.
    private let work = Atomic<Int>(0)

    init(_ engine: Engine, later: @escaping Later) {
        self.engine = engine
        self.later = later
    }

    /// Begins to look at the volume once a minute.
    func watchWhileIdle() {
        let seen = work.load(ordering: .relaxed)
        // A cache that nobody holds any more is not kept for it.
        later(Self.idleDelay) { [weak self] in
            guard let self, !isStopped else { return }
            if work.load(ordering: .relaxed) == seen { maintain() }
            watchWhileIdle()
        }
    }

    var isStopped: Bool {
        state.withLock { state in
            if case .stopped = state { true } else { false }
        }
    }

    /// - Returns: Whether it was running until now.
    func stop() -> Bool {
        state.withLock { state in
            if case .stopped = state { return false }
            state = .stopped
            return true
        }
    }

    /// Called after every piece of work.
    func noteWork() {
        guard engine.hasUnfinishedBusiness else { return }
        let isUrgent = engine.isUrgent
        let isNew = state.withLock { state in
            switch state {
            case .idle: break
            case .scheduled(isUrgent: false) where isUrgent: break
            case .scheduled, .stopped: return false
            }
            state = .scheduled(isUrgent: isUrgent)
            return true
        }
        guard isNew else { return }
        work.wrappingAdd(1, ordering: .relaxed)
        later(isUrgent ? .zero : Self.delay) { [self] in flush() }
    }

    private func flush() {
        // Of an urgent flush and the one that it overtook, only the first finds something to do.
        let isRunning = state.withLock { state in
            guard case .scheduled = state else { return false }
            state = .idle
            return true
        }
        if isRunning { maintain() }
    }

    private func maintain() {
        do {
            try engine.usage.perform { () throws(CacheError) in try engine.maintain() }
        } catch .closed {
            // Closing has written what there was.
            return
        } catch {
            // The changes stay in memory, and the next piece of work tries again.
            engine.environment.logger.warning("The catalog was not written.", metadata: ["error": "\(error)"])
        }
    }
}

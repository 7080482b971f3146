internal import Logging
internal import PrefetchFileSystem
internal import Synchronization

/// When maintenance runs in the background: about a second after the first change that is only in memory, at
/// once when much is pending, and once a minute while the cache is idle.
final class FlushSchedule: Sendable {
    static let delay = Duration.seconds(1)
    static let idleDelay = Duration.seconds(60)

    private enum State {
        case idle
        /// A flush will run within ``delay``, or at once. It has a number, since an urgent one overtakes another.
        case scheduled(isUrgent: Bool, number: Int)
        /// Maintenance is under way. New work waits for it to finish: it may take long, and must not run concurrently.
        case running(hasNewWork: Bool)
        case stopped
    }

    private let engine: Engine
    private let later: CacheEnvironment.RunLater
    /// How a reader waits while its backlog is written, suspended and without a thread. Tests only count the time.
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = UnfairMutex(State.idle)
    /// Counts the flushes that were asked for, which distinguishes an idle minute from a busy one.
    private let work = Atomic<Int>(0)

    init(
        _ engine: Engine, later: @escaping CacheEnvironment.RunLater,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.engine = engine
        self.later = later
        self.sleep = sleep
    }

    /// Begins to measure the volume once a minute.
    func watchWhileIdle() {
        let seen = work.load(ordering: .relaxed)
        // Weak, so that this does not keep the cache alive.
        later(Self.idleDelay) { [weak self] in
            guard let self, !isStopped else { return }
            if work.load(ordering: .relaxed) == seen { runIfIdle() }
            watchWhileIdle()
        }
    }

    var isStopped: Bool {
        state.withLock { state in
            if case .stopped = state { true } else { false }
        }
    }

    func stop() {
        state.withLock { $0 = .stopped }
    }

    /// Called after every call of the cache.
    func noteWork() {
        // With as few looks as possible: nearly all calls find that maintenance is scheduled.
        switch state.withLock(\.self) {
        case .scheduled(isUrgent: true, _), .running(hasNewWork: true), .stopped: return
        case .scheduled(isUrgent: false, _): guard engine.isUrgent else { return }
        case .idle, .running(hasNewWork: false): guard engine.needsMaintenance else { return }
        }
        schedule()
    }

    /// For how long a reader waits, in steps: the catalog may be locked by another process, for which no reader waits.
    private static let steps = 20
    /// For how long it waits while this process writes. Otherwise the next batch would be longer, and so would the one after it.
    private static let stepsOfWriting = 500
    private static let step = Duration.milliseconds(1)

    /// Whether a reader is to ``waitForBacklog()``.
    var hasLongBacklog: Bool { engine.catalog.hasLongBacklog.load(ordering: .relaxed) }

    /// Lets a reader that notes its uses faster than they can be written wait until those of before are being written. What
    /// it noted then fits into one short transaction, for which stores do not have to wait for long.
    func waitForBacklog() async {
        var inVain = 0
        for _ in 0..<Self.stepsOfWriting where inVain < Self.steps {
            guard hasLongBacklog, !isStopped else { return }
            if !engine.catalog.isWriting.load(ordering: .relaxed) { inVain += 1 }
            do {
                try await sleep(Self.step)
            } catch {
                // Cancelling a read has no effect.
                return
            }
        }
        engine.catalog.hasLongBacklog.store(false, ordering: .relaxed)
    }

    private func schedule() {
        let isUrgent = engine.isUrgent
        let number = work.wrappingAdd(1, ordering: .relaxed).newValue
        let isNew = state.withLock { state in
            switch state {
            case .idle: break
            case .scheduled(isUrgent: false, _) where isUrgent: break
            case .running:
                state = .running(hasNewWork: true)
                return false
            case .scheduled, .stopped: return false
            }
            state = .scheduled(isUrgent: isUrgent, number: number)
            return true
        }
        if isNew { later(isUrgent ? .zero : Self.delay) { [self] in flush(number) } }
    }

    private func flush(_ number: Int) {
        let isDue = state.withLock { state in
            guard case .scheduled(_, number) = state else { return false }
            state = .running(hasNewWork: false)
            return true
        }
        if isDue { run() }
    }

    private func runIfIdle() {
        let isIdle = state.withLock { state in
            guard case .idle = state else { return false }
            state = .running(hasNewWork: false)
            return true
        }
        if isIdle { run() }
    }

    private func run() {
        let isDone = maintain()
        let hasNewWork = state.withLock { state in
            guard case .running(let hasNewWork) = state else { return false }
            state = .idle
            return hasNewWork
        }
        if !isDone {
            schedule()
        } else if hasNewWork {
            noteWork()
        }
    }

    /// - Returns: `false` if the rest is to follow soon.
    private func maintain() -> Bool {
        do {
            return try engine.usage.perform { () throws(CacheError) in try engine.maintainInTurn() }
        } catch .closed, .suspended {
            // That has written everything.
            return true
        } catch {
            // The changes stay in memory, and the next call schedules another attempt.
            engine.environment.logger.warning("The catalog was not written.", metadata: ["error": "\(error)"])
            return true
        }
    }
}

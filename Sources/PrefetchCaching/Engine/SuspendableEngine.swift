internal import Dispatch
internal import Logging
internal import PrefetchFileSystem
internal import Synchronization

/// The engine of a cache: closed while the cache is suspended, and opened anew when it is resumed.
final class SuspendableEngine: Sendable {
    /// An open engine, and its maintenance.
    struct Running: Sendable {
        let engine: Engine
        let flushing: FlushSchedule

        init(_ engine: Engine, on lanes: Lanes) {
            self.engine = engine
            let runLater = engine.environment.runLater ?? { delay, work in lanes.run(after: delay, work) }
            flushing = FlushSchedule(engine, later: runLater)
            flushing.watchWhileIdle()
        }
    }

    private enum Phase: Sendable {
        case running(Running)
        case suspended
        /// It could not be resumed.
        case failed(CacheError)
        case closed
    }

    private struct State: Sendable {
        var phase: Phase
        /// Called when the next phase begins.
        var waiting: [Int: @Sendable () -> Void] = [:]
        var lastWaiting = 0

        mutating func add(_ body: @escaping @Sendable () -> Void) -> Int {
            lastWaiting += 1
            waiting[lastWaiting] = body
            return lastWaiting
        }
    }

    let pins: Pins
    private let environment: CacheEnvironment
    private let lanes: Lanes
    private let reopen: @Sendable (CacheEnvironment) throws(CacheError) -> Engine
    private let state: UnfairMutex<State>
    /// Suspends, resumes and closes in the order of the calls: a `resume()` that is overtaken by the next `suspend()`
    /// would leave the cache running in a process that is about to be frozen.
    private let turns = BlockingExecutor(width: 1)

    /// - Parameter reopen: Opens the cache in an environment.
    init(
        _ engine: Engine, on lanes: Lanes,
        reopen: @escaping @Sendable (CacheEnvironment) throws(CacheError) -> Engine
    ) {
        environment = engine.environment
        pins = Pins(environment)
        self.lanes = lanes
        self.reopen = reopen
        state = UnfairMutex(State(phase: .running(Running(engine, on: lanes))))
    }

    // MARK: Waiting

    /// The open engine, for which the call waits while the cache is suspended.
    ///
    /// - Throws: ``CacheError/cancelled`` if the task is cancelled meanwhile, ``CacheError/closed``, and the reason why
    ///   the cache could not be resumed.
    func running() async throws(CacheError) -> Running {
        try await next { phase in
            switch phase {
            case .running(let running): .success(running)
            case .suspended: nil
            case .failed(let error): .failure(error)
            case .closed: .failure(.closed)
            }
        }
    }

    /// Waits for a task, which is cancelled when the cache is suspended or closed, at once if it already is.
    ///
    /// - Returns: What the task returns, and whether it was cancelled for that.
    func whileRunning<Value: Sendable>(_ task: Task<Value, Never>) async -> (value: Value, wasStopped: Bool) {
        let number = state.withLock { state in
            if case .running = state.phase { state.add { task.cancel() } } else { nil as Int? }
        }
        guard let number else {
            task.cancel()
            return (await task.value, true)
        }
        let value = await task.value
        return (value, state.withLock { $0.waiting.removeValue(forKey: number) == nil })
    }

    /// Waits for a phase for which `select` returns something.
    private func next<Value: Sendable>(
        _ select: (Phase) -> Result<Value, CacheError>?
    ) async throws(CacheError) -> Value {
        while true {
            if let found = select(phase) { return try found.get() }
            let change = nextChange()
            // It may have changed before.
            if let found = select(phase) { return try found.get() }
            for await _ in change {}
            if Task.isCancelled { throw .cancelled }
        }
    }

    /// A stream that ends with the phase, or when its task is cancelled.
    private func nextChange() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let number = state.withLock { $0.add { continuation.finish() } }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.waiting.removeValue(forKey: number) }
        }
        return stream
    }

    // MARK: Changing

    func suspend(isolation: isolated (any Actor)?) async throws(CacheError) {
        try await inTurn { () throws(CacheError) in try self.suspendInTurn() }
    }

    /// As ``suspend(isolation:)``, for a thread that may block.
    func suspendAndWait() throws(CacheError) {
        let outcome = Mutex<Result<Void, CacheError>>(.success(()))
        let isOver = DispatchSemaphore(value: 0)
        start { () throws(CacheError) in
            try self.suspendInTurn()
        } ended: { result in
            outcome.withLock { $0 = result }
            isOver.signal()
        }
        isOver.wait()
        try outcome.withLock(\.self).get()
    }

    private func suspendInTurn() throws(CacheError) {
        switch phase {
        case .running(let running):
            enter(.suspended)
            try stop(running, because: .suspended)
        case .failed: enter(.suspended)
        case .suspended, .closed: break
        }
    }

    func resume(isolation: isolated (any Actor)?) async throws(CacheError) {
        try await inTurn { () throws(CacheError) in
            switch self.phase {
            case .running: return
            case .closed: throw .closed
            case .suspended, .failed: break
            }
            do throws(CacheError) {
                // The files of the last session may still be there, and others take it for dead.
                let engine = try self.reopen(self.environment.withNewSession())
                self.pins.takeAgain(in: engine)
                self.enter(.running(Running(engine, on: self.lanes)))
            } catch {
                self.enter(.failed(error))
                throw error
            }
        }
    }

    func close(isolation: isolated (any Actor)?) async throws(CacheError) {
        try await inTurn { () throws(CacheError) in
            let last = self.phase
            self.enter(.closed)
            if case .running(let running) = last { try self.stop(running, because: .closed) }
        }
    }

    private func stop(_ running: Running, because reason: CacheError) throws(CacheError) {
        running.flushing.stop()
        defer { pins.letGo() }
        try running.engine.close(because: reason)
    }

    private var phase: Phase { state.withLock { $0.phase } }

    private func enter(_ phase: Phase) {
        let waiting = state.withLock { state in
            state.phase = phase
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for body in waiting { body() }
    }

    private func inTurn(
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable () throws(CacheError) -> Void
    ) async throws(CacheError) {
        let result = await withCheckedContinuation { continuation in
            start(body) { continuation.resume(returning: $0) }
        }
        try result.get()
    }

    private func start(
        _ body: @escaping @Sendable () throws(CacheError) -> Void,
        ended: @escaping @Sendable (Result<Void, CacheError>) -> Void
    ) {
        Task.detached(executorPreference: turns, priority: .userInitiated) {
            ended(Result { () throws(CacheError) in try body() })
        }
    }
}

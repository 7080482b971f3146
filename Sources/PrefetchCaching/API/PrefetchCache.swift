internal import Synchronization

/// A cache for what the user will probably want.
///
/// Downloads are stored ahead of time, compressed, within a byte budget. The least recently used are evicted when space
/// runs short. An item that the user opens is promoted, whole and durable, to Documents, Application Support or iCloud
/// Drive.
///
/// ```swift
/// let cache = try await PrefetchCache(areas: .application(id: "org.example.podcasts"))
///
/// let episode = ItemMetadata(key: "episode-42", destination: .documents("Episode 42.mp3"))
/// try await cache.store(data, as: episode)
///
/// if let file = try await cache.open("episode-42") {
///     play(file.url)          // the user's own file from now on
/// } else {
///     stream(from: server)    // a miss: the cache promises nothing
/// }
/// ```
///
/// Any number of tasks and processes may use one cache at the same time. The work is done on threads that may block, see
/// ``executor``; on Swift's cooperative threads nothing waits for a device. Only the `open` calls,
/// ``lookUpAndOpen(_:progress:)`` and ``verify(_:progress:)`` honour the cancellation of their task, and all calls that wait
/// for ``resume(isolation:)``; all other calls run to completion.
///
/// Any call may throw ``CacheError/fileSystem(_:)``, ``CacheError/database(name:message:)``,
/// ``CacheError/catalogOverBudget``, ``CacheError/newerLedger(version:)``, ``CacheError/configuration(_:)``,
/// ``CacheError/busy(_:by:)`` and ``CacheError/closed``. A call that names a key which was opened before also
/// looks for its file, and may throw ``CacheError/destination(_:_:)`` or
/// ``CacheError/destinationUnavailable(_:)``. The documentation of a method lists only what is specific to it.
///
/// - Important: A cached item may vanish at any moment. Only what ``open(_:progress:)-(ItemKey,_)`` returned
///   stays.
public final class PrefetchCache: Sendable {
    let engine: SuspendableEngine
    let environment: CacheEnvironment
    let lanes = Lanes()
    let opens = SharedOpens()
    private let hub = EventHub()

    /// Opens the cache of an app, creates missing folders, and recovers from a crash.
    ///
    /// - Throws: ``CacheError/notOurs(_:)`` for a folder of the cache that belongs to another user or that
    ///   others may write to, ``CacheError/configuration(_:)`` and ``CacheError/fileSystem(_:)``.
    /// - Complexity: Independent of the number of items.
    public convenience init(areas: StorageAreas) async throws(CacheError) {
        try await self.init(areas: areas, isRecovering: true) { .live() }
    }

    /// Opens a cache in a given environment, for tests or with a logger of your own.
    ///
    /// With `isRecovering` false, the leftovers of a crash stay, to be inspected, or reported by
    /// ``repair(dryRun:keepingQuarantined:)``; the cache remains usable.
    ///
    /// - Throws: As ``init(areas:)``.
    public convenience init(areas: StorageAreas, environment: CacheEnvironment, isRecovering: Bool = true)
        async throws(CacheError)
    {
        try await self.init(areas: areas, isRecovering: isRecovering) { environment }
    }

    /// Opens a cache to look at it: no call changes a byte or a time on disk, and where the cache is missing it is empty. What
    /// would change something fails as on a read-only volume.
    ///
    /// - Throws: As ``init(areas:)``.
    package convenience init(lookingAt areas: StorageAreas, environment: CacheEnvironment)
        async throws(CacheError)
    {
        DatabaseBytes.leaveTimes()
        try await self.init(areas: areas, isRecovering: false) { environment.looking() }
    }

    /// - Parameter environment: Called on a thread that may block: the live one reads files.
    private init(areas: StorageAreas, isRecovering: Bool, environment: @Sendable () -> CacheEnvironment)
        async throws(CacheError)
    {
        let open: @Sendable (CacheEnvironment, Bool) throws(CacheError) -> Engine = {
            [hub] environment, isRecovering throws(CacheError) in
            do throws(CacheError) {
                return try Engine(
                    areas: areas, environment: environment, isRecovering: isRecovering, events: hub)
            } catch {
                throw error.reported
            }
        }
        let first = try await lanes.run(.calls) { () throws(CacheError) in
            try open(environment(), isRecovering)
        }
        self.environment = first.environment
        engine = SuspendableEngine(first, on: lanes) { environment throws(CacheError) in
            try open(environment, isRecovering)
        }
    }

    deinit {
        // Releasing locks and databases touches files, which must not happen on the thread that drops the last
        // reference.
        lanes.run { [engine] in withExtendedLifetime(engine) {} }
    }

    /// An executor whose threads may block. A task that mostly uses the cache avoids a thread switch per call by
    /// preferring it:
    ///
    /// ```swift
    /// await withTaskExecutorPreference(cache.executor) { … }
    /// ```
    ///
    /// It has threads of its own, at most 64: tasks that compute or wait there take none from the calls of
    /// other tasks, nor from maintenance.
    public var executor: any TaskExecutor { lanes.guests }

    /// As ``executor``, for downloads into the cache.
    package var downloadExecutor: any TaskExecutor { lanes.downloads }

    /// The events of the cache in this process, from now on.
    public var events: CacheEvents { hub.stream() }

    /// Runs work on a thread that may block, and schedules the writing of the changes that it leaves in
    /// memory. Waits while the cache is suspended.
    func run<Result: Sendable>(
        in lane: Lanes.Lane = .calls, _ body: @Sendable (Engine) throws(CacheError) -> Result
    ) async throws(CacheError) -> Result {
        while true {
            let running = try await engine.running()
            do {
                let result = try await lanes.run(lane) { () throws(CacheError) in
                    defer { running.flushing.noteWork() }
                    return try running.engine.usage.perform { () throws(CacheError) in
                        try body(running.engine)
                    }
                }
                if lane == .reads, running.flushing.hasLongBacklog { await running.flushing.waitForBacklog() }
                return result
            } catch {
                // A call that came too late, or was interrupted, is made again. The error of a writer stays.
                guard error == .suspended, running.engine.usage.isSuspended else { throw error }
            }
        }
    }

    /// Writes the order of use and the figures that are still in memory. This otherwise happens about a second
    /// after a change.
    public func flush() async throws(CacheError) {
        try await run { engine throws(CacheError) in try engine.flush() }
    }

    /// Writes everything and releases files and locks. Waits for calls under way, but not for opens that wait to share
    /// their flushes, which throw; writers that were not committed end as if they were dropped. Pins end. Later calls of
    /// the cache and of its writers throw ``CacheError/closed`` and change nothing. Closing again waits for the first call
    /// to finish, and has no other effect. The five folders that the cache works in stay open until this object is
    /// released.
    ///
    /// A process that ends without closing loses about a second of recency and of figures, and nothing else.
    ///
    /// - Throws: ``CacheError/fileSystem(_:)`` and ``CacheError/database(name:message:)``. The cache is closed
    ///   nevertheless.
    public func close() async throws(CacheError) {
        defer { hub.finish() }
        try await engine.close(isolation: #isolation)
    }
}

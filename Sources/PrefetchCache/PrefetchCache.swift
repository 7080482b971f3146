internal import Synchronization

/// A cache for what the user will probably want.
///
/// Downloads go in ahead of time, compressed, under a byte budget; the least recently used go when
/// space runs short; and what the user opens is handed over, whole and durable, to Documents,
/// Application Support or iCloud Drive.
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
/// Any number of tasks and processes may use one cache at the same time. The work is done on threads
/// that may block, never on Swift's cooperative threads, see ``executor``.
///
/// - Important: A cached item may vanish at any moment. Only what ``open(_:progress:)-(ItemKey,_)`` returned stays.
public final class PrefetchCache: Sendable {
    let engine: Engine
    let blocking = BlockingExecutor()
    private let flushing: FlushSchedule

    /// Opens the cache of an app, creating its folders when they are missing, and settles what a
    /// crash left behind.
    ///
    /// - Throws: ``CacheError/notOurs(_:)`` for a folder that belongs to somebody else,
    ///   ``CacheError/configuration(_:)``, ``CacheError/fileSystem(_:)``.
    /// - Complexity: Independent of the number of items.
    public convenience init(areas: StorageAreas) async throws(CacheError) {
        try await self.init(areas: areas, environment: .live())
    }

    /// Opens a cache in a given environment: for tests, and for a logger of one's own.
    ///
    /// - Parameter isSettling: Whether what a crash left behind is settled. Without that it stays as it is, to
    ///   be looked at or reported by ``repair(dryRun:)``; the cache can be used all the same.
    public init(areas: StorageAreas, environment: CacheEnvironment, isSettling: Bool = true)
        async throws(CacheError)
    {
        let engine = try await blocking.run { () throws(CacheError) in
            try Engine(areas: areas, environment: environment, isSettling: isSettling)
        }
        self.engine = engine
        flushing = FlushSchedule(engine) { [blocking] delay, work in blocking.run(after: delay, work) }
        flushing.watchWhileIdle()
    }

    deinit {
        // What lets go of locks and databases touches files, which must not happen wherever the last reference is
        // dropped.
        blocking.run(after: .zero) { [engine, flushing] in withExtendedLifetime((engine, flushing)) {} }
    }

    /// The executor that the cache works on. A task that does much with the cache and little else
    /// saves a change of threads per call by preferring it:
    ///
    /// ```swift
    /// await withTaskExecutorPreference(cache.executor) { … }
    /// ```
    public var executor: any TaskExecutor { blocking }

    /// What happens to the cache in this process, from now on. A listener that falls behind by more
    /// than 1,024 events loses the oldest.
    public var events: AsyncStream<CacheEvent> { engine.events.stream() }

    /// Runs a piece of work on a thread that may block, and sees to it that what it leaves in memory
    /// is written.
    func run<Result: Sendable>(
        _ body: @Sendable (Engine) throws(CacheError) -> Result
    ) async throws(CacheError) -> Result {
        let engine = engine
        let flushing = flushing
        return try await blocking.run { () throws(CacheError) in
            defer { flushing.noteWork() }
            return try engine.usage.perform { () throws(CacheError) in try body(engine) }
        }
    }

    /// Writes to the catalog what is still in memory: recency and statistics. Happens by itself about
    /// a second after a change.
    public func flush() async throws(CacheError) {
        try await run { engine throws(CacheError) in try engine.flush() }
    }

    /// Writes everything and lets go of files and locks. Calls that are under way are waited for, and
    /// writers that were not committed give up their items. Later calls, of the cache and of its writers,
    /// throw ``CacheError/closed`` and change nothing.
    ///
    /// A process that ends without it loses a second of recency and nothing else.
    public func close() async throws(CacheError) {
        guard flushing.stop() else { return }
        let engine = engine
        try await blocking.run { () throws(CacheError) in try engine.close() }
    }
}

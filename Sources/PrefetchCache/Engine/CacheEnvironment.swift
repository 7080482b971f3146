public import FileSystem
public import Logging
public import VolumeCapacity

#if canImport(Darwin)
    internal import Darwin
#endif

/// What the engine takes from outside. Given the same environment and the same calls, it does the same.
public struct CacheEnvironment: Sendable {
    /// The file system that all calls on files go through.
    public var fileSystem: any FileSystem
    /// The time in milliseconds since 1970. Used for times that are shown, and for expiry; never to order
    /// items.
    public var now: @Sendable () -> Int64
    /// The time since some moment in the past. It never goes back, even if the clock is changed.
    public var uptime: @Sendable () -> Duration
    /// Measures the space of the cache's volume.
    public var probe: any VolumeProbing
    /// Coordinates access to iCloud Drive. `nil` for the system's `NSFileCoordinator`, and for none where the
    /// system has none.
    public var coordinator: (any FileCoordinating)?
    /// Distinguishes the writers of a cache: 16 hexadecimal digits, different for each.
    public var session: String
    /// Changes with every start of the operating system; empty if unknown. It decides which files a crash of
    /// the machine may have damaged, and the clock never does.
    public var bootIdentifier: String
    /// The number of threads for parallel work. ``PrefetchCache/verify(_:progress:)`` uses all of them; the
    /// chunks of one item are compressed and decompressed by at most 4.
    public var parallelism: Int
    /// Receives warnings and errors that no call throws.
    public var logger: Logger

    /// Creates an environment from its parts.
    ///
    /// - Parameters:
    ///   - probe: `nil` for one that asks the file system.
    ///   - coordinator: See ``coordinator``.
    public init(
        fileSystem: any FileSystem, now: @escaping @Sendable () -> Int64,
        uptime: @escaping @Sendable () -> Duration, probe: (any VolumeProbing)? = nil,
        coordinator: (any FileCoordinating)? = nil, session: String, bootIdentifier: String,
        parallelism: Int, logger: Logger
    ) {
        self.fileSystem = fileSystem
        self.now = now
        self.uptime = uptime
        self.probe = probe ?? VolumeProbe(fileSystem: fileSystem)
        self.coordinator = coordinator
        self.session = session
        self.bootIdentifier = bootIdentifier
        self.parallelism = parallelism
        self.logger = logger
    }
}

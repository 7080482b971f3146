public import FileSystem
public import Logging
public import VolumeCapacity

#if canImport(Darwin)
    internal import Darwin
#endif

/// What the engine takes from outside. Given the same environment and the same calls, it does the
/// same.
public struct CacheEnvironment: Sendable {
    public var fileSystem: any FileSystem
    /// Milliseconds since 1970. Used for the times that people read, never to order items.
    public var now: @Sendable () -> Int64
    /// The time since some moment in the past. It never goes back, whatever is done to the clock.
    public var uptime: @Sendable () -> Duration
    /// Tells how much space the volume of the cache has.
    public var probe: any VolumeProbing
    /// Coordinates what is done in iCloud Drive. `nil` for the system's `NSFileCoordinator`, and where there
    /// is none for a lock that the processes of one cache share.
    public var coordinator: (any FileCoordinating)?
    /// Distinguishes the writers of a cache: 16 hexadecimal digits.
    public var session: String
    /// Changes with every start of the operating system; empty where it is unknown. What a crash of the
    /// machine may have torn is told by it, never by the clock.
    public var bootIdentifier: String
    /// How many chunks of a large item are compressed or decompressed at a time.
    public var parallelism: Int
    public var logger: Logger

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

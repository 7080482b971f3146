public import FileSystem
public import Logging

#if canImport(Darwin)
    internal import Darwin
#endif

/// What the engine takes from outside. Given the same environment and the same calls, it does the
/// same.
public struct CacheEnvironment: Sendable {
    public var fileSystem: any FileSystem
    /// Milliseconds since 1970. Used for the times that people read, never to order items.
    public var now: @Sendable () -> Int64
    /// Distinguishes the writers of a cache: 16 hexadecimal digits.
    public var session: String
    /// Changes with every start of the operating system.
    public var bootIdentifier: String
    /// How many chunks of a large item are compressed or decompressed at a time.
    public var parallelism: Int
    public var logger: Logger

    public init(
        fileSystem: any FileSystem, now: @escaping @Sendable () -> Int64, session: String,
        bootIdentifier: String, parallelism: Int, logger: Logger
    ) {
        self.fileSystem = fileSystem
        self.now = now
        self.session = session
        self.bootIdentifier = bootIdentifier
        self.parallelism = parallelism
        self.logger = logger
    }
}

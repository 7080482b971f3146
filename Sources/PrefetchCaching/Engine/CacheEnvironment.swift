internal import Foundation
public import Logging
package import PrefetchFileSystem
public import PrefetchVolumeCapacity
internal import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#endif

/// What the engine depends on. Given the same environment and the same calls, it behaves identically.
public struct CacheEnvironment: Sendable {
    /// Runs work after a delay, on a thread that may block.
    package typealias RunLater = @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void

    /// The file system that all calls on files go through.
    package var fileSystem: any FileSystem
    /// The time in milliseconds since 1970. Used for times that are shown, and for expiry; never to order
    /// items.
    package var now: @Sendable () -> Int64
    /// Monotonic time since an arbitrary moment, unaffected by changes of the clock.
    package var uptime: @Sendable () -> Duration
    /// Measures the space of the cache's volume.
    package var probe: any VolumeProbing
    /// Coordinates access to iCloud Drive. `nil` for the system's `NSFileCoordinator`, and for none where the
    /// system has none.
    package var coordinator: (any FileCoordinating)?
    /// Asks the system not to suspend the process; `nil` where the system does not suspend any.
    package var performExpiringActivity: PerformExpiringActivity? = ExpiringActivity.ofTheSystem
    /// Distinguishes the writers of a cache: 16 hexadecimal digits, different for each.
    package var session: String
    /// Changes with every start of the operating system; empty if unknown. It alone, never the clock, decides which
    /// files a crash of the machine may have damaged.
    package var bootIdentifier: String
    /// The number of threads for parallel work. ``PrefetchCache/verify(_:progress:)`` uses all of them; the
    /// chunks of one item are compressed and decompressed by at most 4.
    public var parallelism: Int
    /// The longest content, in bytes, that the first open copies although it might rename the item's file.
    package var longestCopy: Int64
    /// Runs maintenance in the background; `nil` for threads of the cache.
    package var runLater: RunLater?
    /// Receives warnings and errors that no call throws.
    public var logger: Logger

    /// Creates an environment from its parts.
    ///
    /// - Parameters:
    ///   - probe: `nil` for one that asks the file system.
    ///   - coordinator: See ``coordinator``.
    package init(
        fileSystem: any FileSystem, now: @escaping @Sendable () -> Int64,
        uptime: @escaping @Sendable () -> Duration, probe: (any VolumeProbing)? = nil,
        coordinator: (any FileCoordinating)? = nil, session: String, bootIdentifier: String,
        parallelism: Int, longestCopy: Int64 = 64 << 10, logger: Logger
    ) {
        self.fileSystem = fileSystem
        self.now = now
        self.uptime = uptime
        self.probe = probe ?? VolumeProbe(fileSystem: fileSystem)
        self.coordinator = coordinator
        self.session = session
        self.bootIdentifier = bootIdentifier
        self.parallelism = parallelism
        self.longestCopy = longestCopy
        self.logger = logger
    }
}

extension CacheEnvironment {
    /// The space that the cache assumes its volume to have, for tests and measurements; `nil`, as in ``live(logger:)``,
    /// for the actual space.
    public var volume: VolumeState? {
        get { (probe as? FixedVolumeProbe)?.state }
        set { probe = newValue.map(FixedVolumeProbe.init) ?? VolumeProbe(fileSystem: fileSystem) }
    }

    /// The environment of the machine that the process runs on.
    public static func live(logger: Logger = Logger(label: "PrefetchCache")) -> CacheEnvironment {
        let fileSystem = LiveFileSystem()
        let start = ContinuousClock.now
        return CacheEnvironment(
            fileSystem: fileSystem,
            now: { Int64(Date().timeIntervalSince1970 * 1000) },
            uptime: { start.duration(to: .now) },
            session: newSession(),
            bootIdentifier: currentBootIdentifier(fileSystem),
            parallelism: ProcessInfo.processInfo.activeProcessorCount,
            logger: logger)
    }

    private static func newSession() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16).leftPadded(to: 16)
    }

    /// The same for another writer.
    func withNewSession() -> CacheEnvironment {
        var environment = self
        environment.session = Self.newSession()
        return environment
    }

    /// The same for somebody who only looks: nothing is written, and maintenance does not run.
    func looking() -> CacheEnvironment {
        var environment = self
        environment.fileSystem = LookingFileSystem(fileSystem)
        if probe is VolumeProbe { environment.probe = VolumeProbe(fileSystem: environment.fileSystem) }
        environment.runLater = { _, _ in }
        return environment
    }

    #if canImport(Darwin)
        private static func currentBootIdentifier(_ fileSystem: LiveFileSystem) -> String {
            var buffer = [CChar](repeating: 0, count: 64)
            var length = buffer.count
            if sysctlbyname("kern.bootsessionuuid", &buffer, &length, nil, 0) == 0 {
                return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
            // A sandbox may refuse that one. The time of the boot moves when the clock is set, which costs a rebuild
            // of the catalog, and no two boots have the same.
            var time = timeval()
            length = MemoryLayout<timeval>.size
            guard sysctlbyname("kern.boottime", &time, &length, nil, 0) == 0 else { return "" }
            return "\(time.tv_sec).\(time.tv_usec)"
        }
    #else
        private static func currentBootIdentifier(_ fileSystem: LiveFileSystem) -> String {
            do {
                let bytes = try fileSystem.contents(
                    ofStream: "/proc/sys/kernel/random/boot_id", in: .workingDirectory, limit: 64)
                return String(decoding: bytes, as: UTF8.self)
            } catch {
                // Unknown: every catalog that was not closed properly counts as one from an earlier boot.
                return ""
            }
        }
    #endif
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: Swift.max(0, count - self.count)) + self
    }
}

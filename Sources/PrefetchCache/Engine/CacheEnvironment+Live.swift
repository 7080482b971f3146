internal import FileSystem
public import Logging
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension CacheEnvironment {
    /// The environment of the machine that the process runs on.
    public static func live(logger: Logger = Logger(label: "PrefetchCache")) -> CacheEnvironment {
        let fileSystem = LiveFileSystem()
        let start = ContinuousClock.now
        return CacheEnvironment(
            fileSystem: fileSystem,
            now: { Int64(Date().timeIntervalSince1970 * 1000) },
            uptime: { start.duration(to: .now) },
            session: String(UInt64.random(in: .min ... .max), radix: 16).leftPadded(to: 16),
            bootIdentifier: currentBootIdentifier(fileSystem),
            parallelism: ProcessInfo.processInfo.activeProcessorCount,
            logger: logger)
    }

    #if canImport(Darwin)
        private static func currentBootIdentifier(_ fileSystem: LiveFileSystem) -> String {
            var buffer = [CChar](repeating: 0, count: 64)
            var length = buffer.count
            guard sysctlbyname("kern.bootsessionuuid", &buffer, &length, nil, 0) == 0 else { return "" }
            return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
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

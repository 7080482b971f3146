import FileSystemTestSupport
import Foundation

/// One case of many, run again alone: the one that the environment names as the failure did.
enum Repetition {
    /// `PREFETCHCACHE_END`, for what is gone through in order.
    static let end = ProcessInfo.processInfo.environment["PREFETCHCACHE_END"]

    static var isWanted: Bool { end != nil }

    /// So many seeds in a row, from that of the run.
    static func seeds(_ count: UInt64) -> Range<UInt64> { TestRun.seed..<TestRun.seed + count }
}

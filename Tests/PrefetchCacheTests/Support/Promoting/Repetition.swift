import Foundation

/// One case of many, run again alone: the one that the environment names as the failure did.
enum Repetition {
    /// `PREFETCHCACHE_SEED`, for what was drawn by lot.
    static let seed = ProcessInfo.processInfo.environment["PREFETCHCACHE_SEED"].flatMap(UInt64.init)
    /// `PREFETCHCACHE_END`, for what is gone through in order.
    static let end = ProcessInfo.processInfo.environment["PREFETCHCACHE_END"]

    static var isWanted: Bool { seed != nil || end != nil }

    /// So many seeds in a row, others in every run.
    static func seeds(_ count: UInt64) -> [UInt64] {
        if let seed { return [seed] }
        let first = UInt64.random(in: 0..<1_000_000_000)
        return Array(first..<first + count)
    }
}

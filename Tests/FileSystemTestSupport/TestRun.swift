import Foundation

/// How much a run of tests tries, and from which seed.
public enum TestRun {
    private static let environment = ProcessInfo.processInfo.environment

    /// Whether the optimiser was at work. Without it code that deals with paths takes thirty times as long, and
    /// samples have to do.
    public static let isOptimised: Bool = {
        #if DEBUG
            false
        #else
            true
        #endif
    }()

    /// Whether `PREFETCHCACHE_LONG_TESTS` asks for everything: minutes instead of seconds.
    public static let isLong = environment["PREFETCHCACHE_LONG_TESTS"] != nil

    /// How many cases to try.
    ///
    /// - Parameters:
    ///   - debug: In a short run of code that is not optimised.
    ///   - optimised: In a short run of code that is.
    ///   - long: In a long run.
    public static func count(debug: Int, optimised: Int, long: Int) -> Int {
        isLong ? long : isOptimised ? optimised : debug
    }

    /// The number in `PREFETCHCACHE_SEED`; without it one at random in a long run, and always the same in a short one. A
    /// failure names it, to be repeated.
    public static let seed =
        environment["PREFETCHCACHE_SEED"].flatMap { UInt64($0) } ?? (isLong ? .random(in: 1...1_000_000) : 1)
}

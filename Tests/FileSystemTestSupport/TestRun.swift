import Foundation

/// How much a run of tests tries, and from which seed.
package enum TestRun {
    private static let environment = ProcessInfo.processInfo.environment

    /// Whether `PREFETCHCACHE_LONG_TESTS` asks for everything: minutes of optimised code. Otherwise a sample has to do,
    /// another in every run.
    package static let isLong = environment["PREFETCHCACHE_LONG_TESTS"] != nil

    /// The number in `PREFETCHCACHE_SEED`, or one at random. It is printed when it is first asked for.
    package static let seed: UInt64 = {
        if let seed = environment["PREFETCHCACHE_SEED"].flatMap({ UInt64($0) }) { return seed }
        let seed = UInt64.random(in: 1...1_000_000)
        print("The random choices of this run are repeated with PREFETCHCACHE_SEED=\(seed)")
        return seed
    }()

    /// How many cases to try, in a short run and in a long one.
    package static func count(short: Int, long: Int) -> Int { isLong ? long : short }

    /// Of all cases every one in a long run, and otherwise `count` by lot.
    package static func sample<Case>(_ count: Int, of cases: [Case]) -> [Case] {
        guard !isLong else { return cases }
        var generator = SeededGenerator(seed: seed)
        return Array(cases.shuffled(using: &generator).prefix(count))
    }

    /// The numbers from 0: all of them in a long run, and otherwise every `step`th, the first by lot.
    package static func numbers(every step: Int) -> StrideTo<Int> {
        isLong ? stride(from: 0, to: .max, by: 1) : stride(from: Int(seed % UInt64(step)), to: .max, by: step)
    }
}

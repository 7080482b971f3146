import Benchmark
import Contenders

/// One call at a time, for baselines and thresholds of `swift package benchmark`: what a change of
/// this project does to its own figures. How they compare with others is for `compare` to say.
///
/// The thresholds are counts of system calls that read and write. Times depend on the machine.
let benchmarks: @Sendable () -> Void = {
    for material in Material.allCases {
        for size in [4, 16, 64] {
            Course(.ours, material, size: size << 10).register()
        }
        Course(.floor, material, size: 16 << 10).register()
    }
    Upkeep().register()
}

/// What is measured of every call, and what is held against the committed thresholds.
enum Measured {
    static var metrics: [BenchmarkMetric] { [.wallClock, .readSyscalls, .writeSyscalls] }

    /// Counts only: times depend on the machine. What is done behind the users' backs falls into some calls, and
    /// now and then a page of the ledger splits: a few more than were committed are let pass.
    static var thresholds: [BenchmarkMetric: BenchmarkThresholds] {
        [
            .readSyscalls: BenchmarkThresholds(absolute: [.p90: 6]),
            .writeSyscalls: BenchmarkThresholds(absolute: [.p90: 6]),
        ]
    }
}

import Benchmark

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

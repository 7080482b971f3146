import Contenders
import Histogram

/// How long one call after the other took, in nanoseconds with three digits.
struct Latencies: Sendable {
    private var histogram = Histogram<UInt64>(
        highestTrackableValue: 60_000_000_000, numberOfSignificantValueDigits: .three)

    var count: UInt64 { histogram.totalCount }
    var microsecondsAtMost: Double { Double(histogram.max) / 1000 }

    /// Runs `body` and notes how long it took, and how much later than it should have it began.
    mutating func time<Result>(after delay: Duration = .zero, _ body: () async throws -> Result)
        async rethrows -> Result
    {
        let start = ContinuousClock.now
        let result = try await body()
        let elapsed = (ContinuousClock.now - start + delay).components
        let nanoseconds = elapsed.seconds * 1_000_000_000 + elapsed.attoseconds / 1_000_000_000
        // Longer than a minute is as good as a minute.
        histogram.record(UInt64(min(max(nanoseconds, 0), 60_000_000_000)))
        return result
    }

    mutating func add(_ other: Latencies) {
        histogram.add(other.histogram)
    }

    func microseconds(atPercentile percentile: Double) -> Double {
        Double(histogram.valueAtPercentile(percentile)) / 1000
    }
}

/// What is called and timed.
enum Call: String, CaseIterable, Sendable {
    case readIdle = "read"
    case readEvicting = "read while eviction runs"
    case readComputing = "read while cores are busy"
    case readStoring = "read while 8 tasks store"
    case store = "store"
    /// Of the task that stores beside the reads.
    case storeEvicting = "store that evicts"
    case storePaced = "store every 0.5 ms"
    case storeTrimming = "the same, full cache"
    case open = "open"
}

/// What came of one round.
struct Round {
    var latencies: [Call: Latencies] = [:]
    /// While something was evicted beside.
    var stores: Int64 = 0
    var evictions: Int64 = 0
}

import Contenders
import Foundation
import PrefetchCaching

/// Stores at the pace of a network, into a cache with room for all and into one that is full.
///
/// Whoever stores without a pause into a full cache waits for evictions sooner or later, since each costs more than a store. At a
/// pace that the processor keeps up with, nothing should have to wait.
struct Pacing {
    /// 32 MB of content in a second.
    private static let period = Duration.microseconds(500)
    /// Long enough for trimming to begin at least once.
    private static let shortest = Duration.seconds(1.5)
    /// Of which trimming takes a twentieth at a time: some 1,600 items.
    private static let budget = ByteCount.mebibytes(256)

    private let workload: Workload
    private let (roomy, full): (PrefetchCache, PrefetchCache)

    init(_ workload: Workload, roomy: PrefetchCache, full: PrefetchCache) async throws {
        self.workload = workload
        (self.roomy, self.full) = (roomy, full)
        try await roomy.configure(CacheConfiguration(budget: .fixed(.gibibytes(16))))
        try await full.configure(CacheConfiguration(budget: .fixed(Self.budget)))
        var number = 0
        while try await full.statistics().evictions == 0 {
            for _ in 0..<1000 {
                _ = try await store(number, of: "before", in: full)
                number += 1
            }
        }
    }

    func measure(_ number: Int, for duration: Duration, _ round: inout Round) async throws {
        let duration = max(duration, Self.shortest)
        round.latencies[.storePaced] = try await store(in: roomy, "\(number)", for: duration)
        let before = try await full.statistics().evictions
        round.latencies[.storeTrimming] = try await store(in: full, "\(number)", for: duration)
        guard try await full.statistics().evictions > before else {
            throw Unexpected(description: "nothing was evicted beside the stores")
        }
    }

    /// - Returns: How long after it was due each item was stored, but for what the timer was late.
    private func store(in cache: PrefetchCache, _ run: String, for duration: Duration) async throws
        -> Latencies
    {
        try await withTaskExecutorPreference(cache.executor) {
            var latencies = Latencies()
            var due = ContinuousClock.now
            for number in 0..<Int(duration / Self.period) {
                // What had to wait for the one before has waited as well.
                let delay = max(.zero, ContinuousClock.now - due)
                if delay == .zero {
                    // The pace is what is measured.
                    try await Task.sleep(until: due)
                    due = .now
                }
                try await latencies.time(after: delay) {
                    try await store(number, of: run, in: cache)
                }
                due += Self.period
            }
            return latencies
        }
    }

    private func store(_ number: Int, of run: String, in cache: PrefetchCache) async throws {
        let item = try ItemMetadata(
            key: ItemKey("https://example.org/paced/\(run)/\(number)"), source: "example.org",
            destination: .documents(FileName("Article")))
        let outcome = try await cache.store(workload.contents[number % workload.contents.count], as: item)
        guard case .stored = outcome else {
            throw Unexpected(description: "\(item.key) was not stored: \(outcome)")
        }
    }
}

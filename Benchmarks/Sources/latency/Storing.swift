import Contenders
import Foundation
import PrefetchCaching

/// Stores items in a cache that has room for all, and opens some of them. And stores at the pace of a network, into that cache
/// and into one that is full.
///
/// Whoever stores without a pause into a full cache waits for evictions sooner or later, since each costs more than a store. At a
/// pace that the processor keeps up with, nothing should have to wait.
struct Storing {
    static let stores = 1000
    private static let opens = 100
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
                try await full.demand(content(number), as: article("paced/before/\(number)"))
                number += 1
            }
        }
    }

    private func content(_ number: Int) -> [UInt8] { workload.contents[number % workload.contents.count] }

    func measure(_ run: Int, for duration: Duration, _ round: inout Round) async throws {
        let items = try (0..<Self.stores).map { try article("\(run)/\($0)", as: "Article \(run) \($0)") }
        // What is dirty from before is nobody's to pay for here.
        sync()
        let (stores, opens) = try await withTaskExecutorPreference(roomy.executor) {
            var (stores, opens) = (Latencies(), Latencies())
            for (index, item) in items.enumerated() {
                try await stores.time { try await roomy.demand(content(index), as: item) }
            }
            for item in items.prefix(Self.opens) {
                guard try await opens.time({ try await roomy.open(item.key) }) != nil else {
                    throw ContenderError("\(item.key) is missing")
                }
            }
            return (stores, opens)
        }
        (round[.store], round[.open]) = (stores, opens)

        let duration = max(duration, Self.shortest)
        round[.storePaced] = try await store(in: roomy, run, for: duration)
        let before = try await full.statistics().evictions
        round[.storeTrimming] = try await store(in: full, run, for: duration)
        guard try await full.statistics().evictions > before else {
            throw ContenderError("nothing was evicted beside the stores")
        }
    }

    /// - Returns: How long after it was due each item was stored, but for what the timer was late.
    private func store(in cache: PrefetchCache, _ run: Int, for duration: Duration) async throws -> Latencies
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
                    try await cache.demand(content(number), as: article("paced/\(run)/\(number)"))
                }
                due += Self.period
            }
            return latencies
        }
    }
}

import Contenders
import Foundation
import PrefetchCaching
import Synchronization

/// What goes on beside the reads.
enum Company: String, CaseIterable, Sendable {
    case none, evicting, computing, storing
}

/// Reads the same items again and again, from a cache whose budget others fight for.
struct Reading {
    static let items = 500
    /// About half of it is left for what is stored beside.
    static let budget = ByteCount.mebibytes(16)
    private static let storingTasks = 8
    /// What one call of the task that evicts wants, and how long it then rests.
    private static let evicted = ByteCount.kibibytes(128)
    private static let rest = Duration.milliseconds(5)

    private let cache: PrefetchCache
    private let workload: Workload
    private let keys: [ItemKey]

    init(_ workload: Workload, in cache: PrefetchCache) async throws {
        self.cache = cache
        self.workload = workload
        try await cache.configure(CacheConfiguration(budget: .fixed(Self.budget)))
        let items = try workload.contents.indices.map { try article("read/\($0)", priority: 1) }
        keys = items.map(\.key)
        for (content, item) in zip(workload.contents, items) { try await cache.demand(content, as: item) }
        // Until the budget is used up.
        var number = 0
        while try await cache.statistics().evictions == 0 {
            for content in workload.contents.prefix(Self.items / 10) {
                try await cache.demand(content, as: article("before/\(number)"))
                number += 1
            }
        }
    }

    /// Reads for `duration`.
    func measure(beside company: Company, for duration: Duration, _ round: inout Round) async throws {
        let before = try await cache.statistics().evictions
        let burners = company == .computing ? (0..<2).map(Burner.init(seed:)) : []
        defer { for burner in burners { burner.stop() } }
        let (reads, stores) = try await withThrowingTaskGroup(of: Latencies?.self) { group in
            start(company, in: &group)
            let reads = try await withTaskExecutorPreference(cache.executor) { try await read(for: duration) }
            group.cancelAll()
            var stores: Latencies?
            for try await latencies in group { stores = stores ?? latencies }
            return (reads, stores)
        }
        let calls: [Company: Call] = [
            .none: .readIdle, .evicting: .readEvicting, .computing: .readComputing, .storing: .readStoring,
        ]
        if let call = calls[company] { round[call] = reads }
        guard case .evicting = company else { return }
        round[.storeEvicting] = stores
        guard try await cache.statistics().evictions > before else {
            throw ContenderError("nothing was evicted beside the reads")
        }
    }

    private func read(for duration: Duration) async throws -> Latencies {
        var latencies = Latencies()
        var random = SplitMix64(seed: 0xCAFE)
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end {
            let key = keys[Int.random(in: keys.indices, using: &random)]
            let content = try await latencies.time { try await cache.read(key) }
            guard content?.count == workload.size else {
                throw ContenderError("\(key) gave \(content?.count ?? 0) bytes")
            }
        }
        return latencies
    }

    private func start(_ company: Company, in group: inout ThrowingTaskGroup<Latencies?, any Error>) {
        switch company {
        case .none, .computing: break
        case .evicting:
            group.addTask(executorPreference: cache.executor) { try await store() }
            group.addTask(executorPreference: cache.executor) { try await evict() }
        case .storing:
            // As those of a downloader that knows nothing of executors.
            for _ in 0..<Self.storingTasks { group.addTask { try await store() } }
        }
    }

    /// Stores item after item, each under a key of its own.
    private func store() async throws -> Latencies? {
        var latencies = Latencies()
        let run = UInt64.random(in: .min ... .max)
        var number = 0
        while !Task.isCancelled {
            let item = try article("beside/\(run)/\(number)")
            let content = workload.contents[number % workload.contents.count]
            try await latencies.time { try await cache.demand(content, as: item) }
            number += 1
        }
        return latencies
    }

    /// Evicts a little now and then, as long as there is more than what is read: a call that is to
    /// evict does so whatever the priority.
    private func evict() async throws -> Latencies? {
        while !Task.isCancelled {
            if try await cache.statistics().chargedBytes > Self.budget.bytes * 3 / 4 {
                try await cache.evict(Self.evicted)
            }
            do {
                try await Task.sleep(for: Self.rest)
            } catch {
                // Cancelled: the reads are over.
                break
            }
        }
        return nil
    }
}

/// Keeps a core busy, on a thread of its own: on those that tasks share, nobody else would have a turn.
private final class Burner: Sendable {
    private let isStopped = Atomic(false)
    private let sum = Atomic<UInt64>(0)

    init(seed: UInt64) {
        Thread.detachNewThread { [self] in
            var random = SplitMix64(seed: seed)
            while !isStopped.load(ordering: .relaxed) {
                // Stored, so that the compiler does not leave it out.
                for _ in 0..<1000 { sum.store(random.next(), ordering: .relaxed) }
            }
        }
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
    }
}

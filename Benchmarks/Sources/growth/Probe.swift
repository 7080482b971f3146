import ArgumentParser
import Contenders
import Foundation
import PrefetchCaching

extension Errand: ExpressibleByArgument {}

/// `growth probe`: one measurement, in a process that does nothing else. Prints its readings as JSON.
struct Probe: AsyncParsableCommand {
    static let warmUps = 100
    static let stores = 500
    static let storedSize = 16 << 10
    static let evictions = 1000
    /// Fewer than are written ahead of time, and stored well within the second after which they would be.
    private static let unrecorded = 400
    private static let statisticsCalls = 21

    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "One measurement, for growth itself.", shouldDisplay: false)

    @Argument var errand: Errand
    @Option(help: "The folder of the cache.") var container: String
    @Option(help: "How many small items there are.") var count: Int
    @Option(help: "Distinguishes what is stored and read.") var round: Int
    @Option(help: "What one small item counts against the budget.") var charge: Int64

    func run() async throws {
        let areas = try StorageAreas.container(at: URL(filePath: container))
        let readings =
            switch errand {
            case .launch: try await launch(areas)
            case .store: try await store(areas)
            case .evict: try await evict(areas)
            case .crash: try await crash(areas)
            case .recover: try await recover(areas)
            }
        FileHandle.standardOutput.write(
            try JSONEncoder().encode(
                Dictionary(uniqueKeysWithValues: readings.map { ($0.key.rawValue, $0.value) })))
        // Not even what runs at exit closes the cache.
        if errand == .crash { _exit(0) }
    }

    private func launch(_ areas: StorageAreas) async throws -> [Metric: Double] {
        var watch = Stopwatch()
        let (cache, begun) = try await begin(areas, &watch)
        var readings: [Metric: Double] = [
            .launch: begun.launch / .milliseconds(1), .firstRead: begun.read / .microseconds(1),
            .firstStatistics: begun.statistics / .milliseconds(1),
            .resident: try ResidentMemory.mebibytes(),
        ]
        var times: [Double] = []
        for _ in 0..<Self.statisticsCalls {
            watch.restart()
            _ = try await cache.statistics()
            times.append(watch.lap() / .microseconds(1))
        }
        readings[.statistics] = Figure(times).median
        watch.restart()
        let items = try await cache.items()
        readings[.items] = watch.lap() / .milliseconds(1)
        guard items.count >= count else {
            throw Unexpected(description: "only \(items.count) items are listed")
        }
        readings[.residentWithItems] = try ResidentMemory.mebibytes()
        try await cache.close()
        return readings
    }

    private func evict(_ areas: StorageAreas) async throws -> [Metric: Double] {
        let cache = try await PrefetchCache(areas: areas)
        var times: [EvictionPolicyChoice: Double] = [:]
        // Each is first in every other round.
        for policy in round % 2 == 0 ? [EvictionPolicyChoice.lru, .value] : [.value, .lru] {
            // Includes the index that one of them needs.
            try await cache.configure { $0.evictionPolicy = policy }
            try await cache.trim()
            times[policy] = try await evict(cache)
        }
        try await cache.configure { $0.evictionPolicy = .lru }
        try await cache.close()
        guard let lru = times[.lru], let value = times[.value] else { return [:] }
        return [.evict: lru, .evictByValue: value, .valueToLRU: value / lru]
    }

    /// - Returns: Microseconds per item.
    private func evict(_ cache: PrefetchCache) async throws -> Double {
        let before = try await cache.statistics().evictions
        var watch = Stopwatch()
        try await cache.evict(.bytes(charge * Int64(Self.evictions)))
        let elapsed = watch.lap()
        let evicted = try await cache.statistics().evictions - before
        // Items differ a little in what they are charged.
        guard (Self.evictions - 50...Self.evictions + 50).contains(Int(evicted)) else {
            throw Unexpected(description: "\(evicted) items were evicted, and not \(Self.evictions)")
        }
        return elapsed / .microseconds(1) / Double(evicted)
    }

    /// Stores as much as may be unrecorded, and leaves it so.
    private func crash(_ areas: StorageAreas) async throws -> [Metric: Double] {
        let cache = try await PrefetchCache(areas: areas)
        for number in 1...Self.unrecorded {
            try await store(
                Array("crash \(round) \(number)".utf8), try GrowthItem.measured(round, -number), in: cache)
        }
        return [:]
    }

    private func recover(_ areas: StorageAreas) async throws -> [Metric: Double] {
        var watch = Stopwatch()
        let (cache, begun) = try await begin(areas, &watch)
        try await cache.close()
        return [
            .readAfterCrash: begun.read / .microseconds(1),
            .statisticsAfterCrash: begun.statistics / .milliseconds(1),
        ]
    }

    /// What a process does first.
    private func begin(
        _ areas: StorageAreas, _ watch: inout Stopwatch
    ) async throws -> (cache: PrefetchCache, times: (launch: Duration, read: Duration, statistics: Duration))
    {
        // Another item in every round, and none of those that will be evicted first.
        let key = try GrowthItem.small(count - 1 - round % count).key
        watch.restart()
        let cache = try await PrefetchCache(areas: areas)
        let launch = watch.lap()
        let content = try await cache.read(key)
        let read = watch.lap()
        let statistics = try await cache.statistics()
        let told = watch.lap()
        guard content != nil else { throw Unexpected(description: "\(key) is missing") }
        guard statistics.items >= count else {
            throw Unexpected(description: "there are \(statistics.items) items instead of \(count)")
        }
        return (cache, (launch, read, told))
    }
}

/// Tells how long one step after the other took.
struct Stopwatch {
    private var start = ContinuousClock.now

    mutating func restart() { start = .now }

    mutating func lap() -> Duration {
        let now = ContinuousClock.now
        defer { start = now }
        return now - start
    }
}

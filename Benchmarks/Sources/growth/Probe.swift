import ArgumentParser
import Contenders
import Foundation
import PrefetchCaching

/// What a process was started for.
enum Errand: String, CaseIterable, ExpressibleByArgument {
    /// Launch, first read, memory, statistics and list.
    case launch
    case store
    case evict
    /// Stores items and dies before they are recorded.
    case crash
    /// The first launch after that.
    case recover
}

/// `growth probe`: one measurement, in a process that does nothing else. Prints its readings as JSON.
struct Probe: AsyncParsableCommand {
    static let warmUps = 100
    static let stores = 500
    static let storedSize = 16 << 10
    static let evictions = 1000
    /// Stores and the floor's stores take turns, so that a machine whose speed drifts hits them alike.
    private static let turn = 50
    /// Fewer than are written ahead of time, and stored well within the second after which they would be.
    private static let unrecorded = 400

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
        var (cache, readings) = try await begin(areas)
        readings[.resident] = try residentMebibytes()
        var watch = Stopwatch()
        let items = try await cache.items()
        readings[.items] = watch.lap() / .milliseconds(1)
        guard items.count >= count else { throw ContenderError("only \(items.count) items are listed") }
        readings[.residentWithItems] = try residentMebibytes()
        try await cache.close()
        return readings
    }

    private func recover(_ areas: StorageAreas) async throws -> [Metric: Double] {
        let (cache, readings) = try await begin(areas)
        try await cache.close()
        return readings[.firstStatistics].map { [.statisticsAfterCrash: $0] } ?? [:]
    }

    /// What a process does first.
    private func begin(_ areas: StorageAreas) async throws -> (PrefetchCache, [Metric: Double]) {
        // Another item in every round, and none of those that will be evicted first.
        let key = try GrowthItem.small(count - 1 - round % count).key
        var watch = Stopwatch()
        let cache = try await PrefetchCache(areas: areas)
        let launch = watch.lap()
        let content = try await cache.read(key)
        let read = watch.lap()
        // Opens the catalog, which looks for what a dead process left.
        let statistics = try await cache.statistics()
        let told = watch.lap()
        guard content != nil, statistics.items >= count else {
            throw ContenderError(
                "there are \(statistics.items) items instead of \(count), or \(key) is missing")
        }
        return (
            cache,
            [
                .launch: launch / .milliseconds(1), .firstRead: read / .microseconds(1),
                .firstStatistics: told / .milliseconds(1),
            ]
        )
    }

    private func store(_ areas: StorageAreas) async throws -> [Metric: Double] {
        let workload = Workload(
            of: try TextCorpus(), size: Self.storedSize, count: Self.warmUps + Self.stores)
        let metadata = try workload.contents.indices.map { try GrowthItem.measured(round, $0) }
        // The system calls that a store needs and no books kept, in the folders of the cache: what of a store grows because folders
        // do, whoever stores. The cache knows nothing of these files.
        let floor = try FloorContender(
            in: URL(filePath: container).appending(path: "Library/Caches/PrefetchCache"), for: workload,
            isAmongOthers: true)
        return try await PrefetchCache.with(areas) { cache in
            try await withTaskExecutorPreference(cache.executor) {
                for number in 0..<Self.warmUps {
                    try await cache.demand(workload.contents[number], as: metadata[number])
                    try floor.store(number)
                }
                try await cache.flush()
                var (times, floorTimes): ([Double], [Double]) = ([], [])
                for first in stride(from: Self.warmUps, to: metadata.count, by: Self.turn) {
                    let turn = first..<min(first + Self.turn, metadata.count)
                    for number in turn {
                        var watch = Stopwatch()
                        try await cache.demand(workload.contents[number], as: metadata[number])
                        times.append(watch.lap() / .microseconds(1))
                    }
                    for number in turn {
                        var watch = Stopwatch()
                        try floor.store(number)
                        floorTimes.append(watch.lap() / .microseconds(1))
                    }
                }
                let (median, floorMedian) = (Figure(times).median, Figure(floorTimes).median)
                return [.store: median, .floorStore: floorMedian, .storeToFloor: median / floorMedian]
            }
        }
    }

    private func evict(_ areas: StorageAreas) async throws -> [Metric: Double] {
        try await PrefetchCache.with(areas) { cache in
            let before = try await cache.statistics().evictions
            var watch = Stopwatch()
            try await cache.evict(.bytes(charge * Int64(Self.evictions)))
            let elapsed = watch.lap()
            let evicted = try await cache.statistics().evictions - before
            // Items differ a little in what they are charged.
            guard (Self.evictions - 50...Self.evictions + 50).contains(Int(evicted)) else {
                throw ContenderError("\(evicted) items were evicted, and not \(Self.evictions)")
            }
            return [.evict: elapsed / .microseconds(1) / Double(evicted)]
        }
    }

    /// Stores as much as may be unrecorded, and leaves it so.
    private func crash(_ areas: StorageAreas) async throws -> [Metric: Double] {
        let cache = try await PrefetchCache(areas: areas)
        for number in 1...Self.unrecorded {
            try await cache.demand(
                Array("crash \(round) \(number)".utf8), as: GrowthItem.measured(round, -number))
        }
        return [:]
    }

    /// What of this process is in memory.
    private func residentMebibytes() throws -> Double {
        #if canImport(Darwin)
            var usage = rusage()
            guard getrusage(RUSAGE_SELF, &usage) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
            // The most that there ever was, in bytes: of a process that has only just begun, the same.
            return Double(usage.ru_maxrss) / 1_048_576
        #else
            // Not rusage: there a child inherits the figure of its parent. And /proc/self/status is a
            // sum over the processors that may lag behind.
            let path = "/proc/self/smaps_rollup"
            let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Rss:") }),
                let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
            else { throw ContenderError("\(path) has no line with Rss") }
            return kibibytes / 1024
        #endif
    }
}

/// Tells how long one step after the other took.
private struct Stopwatch {
    private var start = ContinuousClock.now

    mutating func lap() -> Duration {
        let now = ContinuousClock.now
        defer { start = now }
        return now - start
    }
}

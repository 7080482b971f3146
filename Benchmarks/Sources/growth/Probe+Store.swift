import Contenders
import Foundation
import PrefetchCaching

extension Probe {
    /// Stores and the floor's stores take turns, so that a machine whose speed drifts hits them alike.
    private static let turn = 50

    func store(_ areas: StorageAreas) async throws -> [Metric: Double] {
        let workload = Workload(
            text: try TextCorpus(), size: Self.storedSize, count: Self.warmUps + Self.stores)
        let metadata = try workload.contents.indices.map { try GrowthItem.measured(round, $0) }
        let names = workload.contents.map { _ in Floor.Name() }
        let floor = try Floor(in: URL(filePath: container), largest: Self.storedSize)
        let cache = try await PrefetchCache(areas: areas)
        let readings = try await withTaskExecutorPreference(cache.executor) {
            for number in 0..<Self.warmUps {
                try await store(workload.contents[number], metadata[number], in: cache)
                try floor.store(workload.contents[number], as: names[number])
            }
            try await cache.flush()
            var times: [Double] = []
            var floorTimes: [Double] = []
            var watch = Stopwatch()
            for first in stride(from: Self.warmUps, to: metadata.count, by: Self.turn) {
                for number in first..<min(first + Self.turn, metadata.count) {
                    watch.restart()
                    try await store(workload.contents[number], metadata[number], in: cache)
                    times.append(watch.lap() / .microseconds(1))
                }
                for number in first..<min(first + Self.turn, metadata.count) {
                    watch.restart()
                    try floor.store(workload.contents[number], as: names[number])
                    floorTimes.append(watch.lap() / .microseconds(1))
                }
            }
            watch.restart()
            try await cache.flush()
            let flush = watch.lap()
            let elapsed = times.reduce(0, +) + flush / .microseconds(1)
            times.sort()
            let median = Figure(times).median
            let floorMedian = Figure(floorTimes).median
            return [
                Metric.storeMedian: median, .storeP99: times[times.count * 99 / 100 - 1],
                .storeRate: Double(times.count) * 1_000_000 / elapsed, .flush: flush / .milliseconds(1),
                .floorMedian: floorMedian, .storeToFloor: median / floorMedian,
            ]
        }
        try await cache.close()
        return readings
    }

    func store(_ content: [UInt8], _ metadata: ItemMetadata, in cache: PrefetchCache) async throws {
        let outcome = try await cache.store(content, as: metadata)
        guard case .stored = outcome else {
            throw Unexpected(description: "\(metadata.key) was not stored: \(outcome)")
        }
    }
}

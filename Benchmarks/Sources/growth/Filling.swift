import Contenders
import Foundation
import PrefetchCaching

/// Fills a cache as an app would, through the public interface, in several tasks.
struct Filling {
    private static let tasks = 4
    /// After each step the tasks wait for each other, and the time is taken.
    private static let step = 10_000

    let cache: PrefetchCache
    let text: TextCorpus
    let progress: ProgressLine

    struct Result {
        /// Of all items, and of the last tenth of them.
        let itemsPerSecond: Double
        let itemsPerSecondAtEnd: Double
        /// What one item counts against the budget.
        let chargedBytes: Int64
    }

    /// Stores the items of these numbers, and writes their rows.
    @discardableResult
    func fill(_ numbers: Range<Int>) async throws -> Result {
        let clock = ContinuousClock()
        let start = clock.now
        var times: [(stored: Int, at: Duration)] = [(0, .zero)]
        let step = min(Self.step, max(1, numbers.count / 10))
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: step) {
            try await store(first..<min(first + step, numbers.upperBound))
            let stored = min(first + step, numbers.upperBound) - numbers.lowerBound
            times.append((stored, clock.now - start))
            progress.show(
                "stored \(stored) of \(numbers.count) items in \(Int(times[times.count - 1].at / .seconds(1))) s"
            )
        }
        try await cache.flush()
        let end = clock.now - start
        let late = times.last { $0.stored <= numbers.count * 9 / 10 } ?? times[0]
        let statistics = try await cache.statistics()
        return Result(
            itemsPerSecond: Double(numbers.count) / (end / .seconds(1)),
            itemsPerSecondAtEnd: Double(numbers.count - late.stored) / ((end - late.at) / .seconds(1)),
            chargedBytes: statistics.chargedBytes / Int64(max(1, statistics.items)))
    }

    private func store(_ numbers: Range<Int>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Self.tasks {
                group.addTask(executorPreference: cache.executor) {
                    for number in numbers.dropFirst(task)
                    where (number - numbers.lowerBound - task).isMultiple(of: Self.tasks) {
                        let outcome = try await cache.store(
                            GrowthItem.content(number, from: text), as: GrowthItem.small(number))
                        guard case .stored = outcome else {
                            throw Unexpected(description: "item \(number) was not stored: \(outcome)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

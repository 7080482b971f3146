import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// The figures of random days, on which three processes work on one cache, are killed, and have files taken away from
/// them, against a model that counts by itself.
@Suite struct FiguresModelTests {
    /// All that is compared. Bytes that left are not: of a purge that takes the catalog along they are unknown.
    static let compared: [PrefetchFigures.Metric] = [
        .stored, .storedBytes, .opened, .openedBytes, .read, .missed, .reopened, .used, .wasted, .delivered,
        .deliveredBytes, .leftUnderPressure, .leftForBudget, .leftExpired, .leftOnRequest, .leftRemoved,
        .leftReplaced, .leftDamaged, .leftPurged, .refusedUnderPressure, .refusedOverBudget,
        .refusedLowPriority,
        .refusedTooLarge, .refusedOpened, .refusedDisabled, .refusedLowValue, .refusedPaused,
    ]

    @Test(arguments: 0..<TestRun.count(short: 3, long: 60))
    func aRandomDayIsCountedAsItWas(number: Int) throws {
        let seed = TestRun.seed &+ UInt64(number)
        var day = try RandomDay(seed: seed)
        for _ in 0..<200 { try day.step() }
        try day.settle()
        try compare(day, seed)
        let there = day.model.items.count
        #expect(try day.residents() == Int64(there), "seed \(seed)")
        // At the end of the day all that is left goes, so that the fate of every item is known.
        try day.evictEverything()
        try compare(day, seed)
        #expect(try day.residents() == 0, "seed \(seed)")
    }

    private func compare(_ day: RandomDay, _ seed: UInt64) throws {
        let found = try day.figures()
        for source in Set(found.keys).union(day.model.sums.keys) {
            let (figures, sums) = (found[source] ?? PrefetchFigures(), day.model.sums[source])
            for metric in Self.compared {
                let (counted, most) = (figures[metric], sums?[metric] ?? 0)
                let least = most - (day.model.slack[source]?[metric] ?? 0)
                #expect(
                    (least...most).contains(counted),
                    "\(metric) of '\(source)' is \(counted) rather than \(least...most), seed \(seed)\n\(day.story(of: source))"
                )
            }
        }
    }
}

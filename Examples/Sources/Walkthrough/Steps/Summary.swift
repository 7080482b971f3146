import PrefetchCaching
import Storytelling

/// The result of the story.
struct Summary {
    let before: CacheStatistics
    let after: CacheStatistics
    let run: StoreRun
    let comparisons: Comparisons

    /// - Returns: Whether everything was as it should be.
    func tell(_ report: inout Report) -> Bool {
        report.step("Before and after the opens")
        report.table([["", "before", "after"]] + rows)

        let isIdentical = comparisons.compared > 0 && comparisons.differing.isEmpty
        let isAllWell = isIdentical && report.failedChecks == 0
        report.step("Summary")
        report.fact("budget", "at most \(run.peakCharged) of \(after.budgetBytes) bytes were charged")
        if report.failedChecks > 0 { report.fact("wrong", "\(report.failedChecks), see above") }
        if comparisons.originalsChanged > 0 {
            report.fact("left out", "\(comparisons.originalsChanged), changed by somebody meanwhile")
        }
        for key in comparisons.differing { report.fact("DIFFERS", key.string.printable) }
        report.fact("files compared", "\(comparisons.compared)")
        report.fact("identical", "\(comparisons.identical)")
        report.fact("differing", "\(comparisons.differing.count)")
        report.line(isAllWell ? "All are identical, byte for byte." : "NOT everything is as it should be.")
        return isAllWell
    }

    private var rows: [[String]] {
        [
            row("items") { "\($0.items)" },
            row("content") { $0.contentBytes.asBytes },
            row("stored") { $0.storedBytes.asBytes },
            row("charged") { $0.chargedBytes.asBytes },
            row("budget") { $0.budgetBytes.asBytes },
            row("hits") { "\($0.hits)" },
            row("misses") { "\($0.misses)" },
            row("stores") { "\($0.stores)" },
            row("promotions") { "\($0.promotions)" },
            row("evictions") { "\($0.evictions)" },
        ]
    }

    private func row(_ name: String, _ figure: (CacheStatistics) -> String) -> [String] {
        [name, figure(before), figure(after)]
    }
}

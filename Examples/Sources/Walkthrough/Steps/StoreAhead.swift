import Foundation
import PrefetchCaching
import Storytelling

/// Stores all files, several at a time, under a budget that cannot hold them.
struct StoreAhead {
    /// The number of files stored at the same time.
    static let width = 4
    private static let mostWarm = 5

    private let cache: PrefetchCache
    private let areas: StorageAreas
    private let plan: BudgetPlan
    /// The items that the user returns to all the time, and the others, which are stored after them.
    private let warm: [SourceFile]
    private let others: [SourceFile]

    init(_ cache: PrefetchCache, _ areas: StorageAreas, _ files: [SourceFile], under plan: BudgetPlan) {
        self.cache = cache
        self.areas = areas
        self.plan = plan
        let average = files.reduce(0) { $0 + $1.length } / Int64(max(files.count, 1))
        warm = Array(files.filter { $0.length <= average }.prefix(min(files.count / 8, Self.mostWarm)))
        let keys = Set(warm.map(\.key))
        others = files.filter { !keys.contains($0.key) }
    }

    func run(_ report: inout Report) async throws -> StoreRun {
        try await cache.configure(CacheConfiguration(budget: .fixed(plan.budget)))
        let percent = Bar.percent(plan.budget.bytes, of: plan.everything)
        report.step("Store ahead, \(Self.width) files at a time")
        report.line("With room for all, they take \(plan.everything.asBytes) of the volume, compressed.")
        report.line("The budget is \(plan.budget.bytes.asBytes), \(percent) % of that.")
        if plan.isRaised {
            report.line("(Less would not do for \(Self.width) items as large as the largest.)")
        }
        report.line("Read again after every store: the first \(warm.count).")

        var run = StoreRun(warm: warm.map(\.key))
        let total = warm.count + others.count
        let progress = Progress(label: "   storing", total: total)
        defer { progress.clear() }
        for batch in warm.map({ [$0] }) + others.inBatches(of: Self.width) {
            try Task.checkCancellation()
            try await store(batch, &run)
            progress.show(run.samples)
            if run.isMilestone(of: total) {
                progress.clear()
                tell(try await cache.statistics(), run.samples, total, report)
            }
        }
        progress.clear()
        tell(try await cache.statistics(), report)
        return run
    }

    /// Stores some files at the same time. Nothing is written between two batches, so that the volume's
    /// figures then belong to one moment.
    private func store(_ batch: [SourceFile], _ run: inout StoreRun) async throws {
        try await withThrowingTaskGroup(of: StoreRun.Step.self) { group in
            let warm = run.storedWarm
            for file in batch {
                group.addTask { try await store(file, rereading: warm) }
            }
            for try await step in group { run.note(step) }
        }
        run.note(
            allocated: try FileFacts.allocated(below: areas.cachesURL.appending(path: "PrefetchCache/items")))
    }

    private func store(_ file: SourceFile, rereading warm: [ItemKey]) async throws -> StoreRun.Step {
        let outcome = try await cache.store(contentsOf: file.url, as: file.metadata)
        // Every read counts as a use, so these are never the coldest.
        for key in warm { _ = try await cache.read(key) }
        let charged = try await cache.statistics().chargedBytes
        return StoreRun.Step(key: file.key, outcome: outcome, charged: charged)
    }

    private func tell(_ sample: CacheStatistics, _ done: Int, _ total: Int, _ report: Report) {
        let files = "\(done)".padded(to: "\(total)".count, .right)
        let items = "\(sample.items)".padded(to: 4, .right)
        let evictions = "\(sample.evictions)".padded(to: 4, .right)
        let bar = Bar.text(sample.chargedBytes, of: sample.budgetBytes)
        report.line("\(files) of \(total)   \(bar) of the budget   \(items) items   \(evictions) evicted")
    }

    private func tell(_ statistics: CacheStatistics, _ report: Report) {
        let ratio = Bar.percent(statistics.storedBytes, of: statistics.contentBytes)
        report.line("Now the cache holds:")
        report.fact("items", "\(statistics.items)")
        report.fact("content", statistics.contentBytes.asBytes)
        report.fact("stored", "\(statistics.storedBytes.asBytes), \(ratio) % of the content")
        report.fact(
            "charged", "\(statistics.chargedBytes.asBytes) of \(statistics.budgetBytes.asBytes)")
        report.fact("evicted", "\(statistics.evictions), \(statistics.evictedBytes.asBytes)")
        for (reason, count) in statistics.refusals.sorted(by: { $0.key < $1.key }) {
            report.fact("refused", "\(count), \(reason)")
        }
    }
}

extension Array {
    fileprivate func inBatches(of length: Int) -> [[Element]] {
        stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}

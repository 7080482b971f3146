import Foundation
import PrefetchCaching
import Storytelling

/// The story, from the first step to the last.
struct Story: Sendable {
    let chosen: SourceFiles
    let container: URL

    /// - Returns: Whether everything was as it should be.
    func tell() async throws -> Bool {
        var report = Report()
        var comparisons = Comparisons()
        introduce(&report)

        let plan = try await BudgetPlan.rehearsing(chosen.files, in: container.appending(path: "rehearsal"))

        // An app uses `.application(id: "org.example.podcasts")` instead.
        let areas = try StorageAreas.container(at: container).excluding(into: "org.example.walkthrough")
        return try await PrefetchCache.with(areas) { cache in
            let run = try await StoreAhead(cache, areas, chosen.files, under: plan).run(&report)
            try await ProveRecency(cache: cache, run: run).run(&report)
            ProveBudget(run: run, plan: plan).run(&report)

            var originals = Dictionary(uniqueKeysWithValues: chosen.files.map { ($0.key, $0) })
            try await LookFromOutside(cache: cache, areas: areas, originals: originals).run(
                &report, &comparisons)

            let before = try await cache.statistics()
            try await OpenItems(cache: cache, areas: areas).run(&report, &comparisons, &originals)
            let after = try await cache.statistics()

            try await ReadBack(cache: cache, originals: originals).run(&report, &comparisons)
            return Summary(before: before, after: after, run: run, comparisons: comparisons).tell(&report)
        }
    }

    private func introduce(_ report: inout Report) {
        print("PrefetchCache walkthrough")
        report.step("What this will do")
        report.line("Store files of this machine ahead of time, as an app would store downloads; have")
        report.line("the least recently used evicted; open some of the others; and compare all with the")
        report.line("originals.")
        report.fact("files", "\(chosen.files.count), \(chosen.bytes.asBytes)")
        report.fact("from", chosen.folder.path(percentEncoded: false).printable)
        report.fact("container", container.path(percentEncoded: false).printable)
    }
}

extension PrefetchCache {
    /// Opens a cache for the duration of `body`, and closes it in any case.
    static func with<Result>(
        _ areas: StorageAreas, _ body: (PrefetchCache) async throws -> Result
    ) async throws -> Result {
        let cache = try await PrefetchCache(areas: areas)
        do {
            // Most of the work here is the cache's: on its own executor no call has to change threads, and code
            // here may block as well.
            let result = try await withTaskExecutorPreference(cache.executor) { try await body(cache) }
            try await cache.close()
            return result
        } catch {
            try await cache.close()
            throw error
        }
    }
}

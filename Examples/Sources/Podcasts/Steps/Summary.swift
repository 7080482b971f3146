import MediaServer
import PrefetchCaching
import Storytelling

/// The result of the story.
struct Summary {
    let player: Player
    let server: MediaServer

    func run(_ report: inout Report) async throws {
        let statistics = try await player.cache.statistics()
        report.step("Summary")
        report.fact("cached", "\(statistics.items) items, \(statistics.contentBytes.asBytes)")
        report.fact(
            "charged", "\(statistics.chargedBytes.asBytes) of \(statistics.budgetBytes.asBytes)")
        report.fact("stored", "\(statistics.stores)")
        report.fact("opened", "\(statistics.promotions)")
        report.fact("evicted", "\(statistics.evictions), \(statistics.evictedBytes.asBytes)")
        for (reason, count) in statistics.refusals.sorted(by: { $0.key < $1.key }) {
            report.fact("refused", "\(count), \(reason)")
        }
        let requests = try await server.requests()
        report.fact(
            "requests", "\(requests.count), of which \(requests.count { $0.status == 304 }) cost nothing")
        report.check("6 + 3 were stored, 2 opened, 1 refused", isAsTold(statistics))
        report.line(report.failedChecks == 0 ? "All is as told." : "NOT everything is as told.")
    }

    private func isAsTold(_ statistics: CacheStatistics) -> Bool {
        statistics.stores == 9 && statistics.promotions == 2
            && statistics.refusals == ["largerThanLargestItem": 1]
    }
}

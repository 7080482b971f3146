internal import ArgumentParser
internal import PrefetchCache

/// `cachectl stats`
struct Stats: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Shows what the cache holds and what it has done.",
        discussion: Examples.stats.discussion())

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        let statistics = try await session.cache.statistics()
        if session.output.isJSON {
            try session.output.print(json: StatisticsRecord(statistics))
        } else {
            let budget = try await session.cache.configuration().budget
            for line in StatisticsTable(statistics, budget).lines { try session.output.print(line) }
        }
    }
}

internal import ArgumentParser
internal import PrefetchCache

/// `cachectl capacity`
struct CapacityCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "capacity",
        abstract: "Shows how much of its volume the cache may take, and why.",
        discussion: Examples.capacity.discussion(
            """
            U + A is the space that is the cache's own or available: items, work under way and free space. \
            Sizes are rounded; --json prints exact bytes.
            """))

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        let report = try await session.cache.capacity()
        let configuration = try await session.cache.configuration()
        guard !session.output.isJSON else {
            return try session.output.print(json: CapacityRecord(report, configuration))
        }
        for line in CapacityTable(report, configuration).lines { try session.output.print(line) }
    }
}

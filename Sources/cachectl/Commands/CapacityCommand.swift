internal import ArgumentParser
internal import PrefetchCache

/// `cachectl capacity`
struct CapacityCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "capacity",
        abstract: "Tells how much the cache may take of its volume, and why.",
        discussion: Examples.capacity.discussion(
            """
            U + A stands for what is ours or available: items, what is under way, and free space. Sizes \
            are rounded; --json has all bytes.
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

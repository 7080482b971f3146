internal import ArgumentParser
internal import PrefetchCache

/// `cachectl list`
struct List: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the cached items, lower priorities first, and of one priority the coldest first.",
        discussion: """
            What is kept of an item whose storing was broken off is no item yet: 'cachectl stats' tells how many \
            there are.
            """)

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        let items = try await session.cache.items()
        if session.output.isJSON {
            try session.output.print(json: items.lazy.map { ItemRecord($0, in: session.place) })
        } else {
            try printTable(of: items, to: session.output)
        }
    }

    private func printTable(of items: [CachedItem], to output: Output) throws {
        guard !items.isEmpty else { return try output.print("no items") }
        var table = TextTable([.right, .right, .left, .left, .left, .left, .left])
        table.add(["CONTENT", "STORED", "ENCODING", "EXPIRES", "DESTINATION", "SOURCE", "KEY"])
        for item in items {
            table.add([
                Size.text(item.contentLength), Size.text(item.storedLength), item.encoding.name,
                item.expiresAt.map { Timestamp.text(milliseconds: $0) } ?? "never",
                item.destination.text.escapedForTerminal, item.source.escapedForTerminal,
                item.key.string.escapedForTerminal,
            ])
        }
        for line in table.lines { try output.print(line) }
    }
}

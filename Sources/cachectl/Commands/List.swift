internal import ArgumentParser
internal import PrefetchCache

/// `cachectl list`
struct List: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the cached items, lowest priority first, and coldest first within a priority.",
        discussion: Examples.list.discussion(
            """
            The kept part of an item whose storing was interrupted is not an item yet: --partials lists it after \
            the items. Items that are being written are not listed.
            """))

    @Flag(help: "Also list the kept parts of interrupted items.")
    var partials = false

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        var listed = try await session.cache.items().map(ListedRecord.Subject.item)
        if partials { listed += try await session.cache.partials().map(ListedRecord.Subject.partial) }
        if session.output.isJSON {
            try session.output.print(
                json: listed.lazy.map { ListedRecord($0, in: session.place) }, as: "items")
        } else {
            try printTable(of: listed, to: session.output)
        }
    }

    private func printTable(of listed: [ListedRecord.Subject], to output: Output) throws {
        guard !listed.isEmpty else { return try output.print("no items") }
        var table = TextTable([.right, .right, .left, .left, .left, .left, .left])
        table.add(["CONTENT", "STORED", "ENCODING", "EXPIRES", "DESTINATION", "SOURCE", "KEY"])
        for subject in listed { table.add(row(of: subject)) }
        for line in table.lines { try output.print(line) }
    }

    private func row(of subject: ListedRecord.Subject) -> [String] {
        switch subject {
        case .item(let item):
            [
                Size.text(item.contentLength), Size.text(item.storedLength), item.encoding.name,
                item.expiresAt.map { Timestamp.text(milliseconds: $0) } ?? "never",
                item.destination.text.escapedForTerminal, item.source.escapedForTerminal,
                item.key.string.escapedForTerminal,
            ]
        case .partial(let partial):
            [
                Size.text(partial.contentLength), Size.text(partial.storedLength), "partial",
                Timestamp.text(milliseconds: partial.expiresAt),
                partial.destination.text.escapedForTerminal, partial.source.escapedForTerminal,
                partial.key.string.escapedForTerminal,
            ]
        }
    }
}

internal import ArgumentParser
internal import PrefetchCaching

struct List: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the cached items, lowest priority first, and coldest first within a priority.",
        discussion: """
            --partials also lists, after the items, what was kept of interrupted ones. Items that are being written \
            are not listed. --opened lists the files of opened items instead, in the order in which they were first \
            opened, including those that the user has since moved or deleted and those that cannot be accessed: NOW \
            shows the current length, or none.

            EXAMPLES:
              # List the cached items
              cachectl list --app org.example.podcasts
              # The same as JSON, with interrupted items
              cachectl list --partials --json --container ./AppData
              # List the files that opened items became
              cachectl list --opened --app org.example.podcasts
            """)

    @Flag(help: "Also list the kept parts of interrupted items.")
    var partials = false

    @Flag(help: "List the opened files instead.")
    var opened = false

    @OptionGroup var shared: SharedOptions

    func validate() throws {
        if opened, partials { throw ValidationError("give either --opened or --partials, not both") }
    }

    private enum Entry {
        case item(CachedItem)
        case partial(PartialItem)
        case promoted(PromotedFile)
    }

    func perform(in session: Session) async throws {
        let (place, output) = (session.place, session.output)
        let entries = try await entries(in: session.cache)
        if output.isJSON {
            return try output.print(json: entries.lazy.map { json($0, in: place) }, as: "items")
        }
        if entries.isEmpty { return try output.print(opened ? "nothing was opened" : "no items") }
        var table =
            opened
            ? TextTable([.left, .right, .right, .left, .left, .left, .left])
            : TextTable([.right, .right, .left, .left, .left, .left, .left])
        table.add(
            opened
                ? ["OPENED", "CONTENT", "NOW", "BACKUP", "AREA", "KEY", "PATH"]
                : ["CONTENT", "STORED", "ENCODING", "EXPIRES", "DESTINATION", "SOURCE", "KEY"])
        for entry in entries { table.add(row(of: entry, in: place)) }
        try output.print(table.lines)
    }

    private func entries(in cache: PrefetchCache) async throws(CacheError) -> [Entry] {
        if opened { return try await cache.promotedFiles().map(Entry.promoted) }
        let items = try await cache.items().map(Entry.item)
        return partials ? items + (try await cache.partials().map(Entry.partial)) : items
    }

    /// `status` in the JSON distinguishes items, partials and opened files.
    private func json(_ entry: Entry, in place: Place) -> JSONObject {
        switch entry {
        case .item(let item): item.json(in: place)
        case .partial(let partial): partial.json
        case .promoted(let file): file.json(in: place)
        }
    }

    private func row(of entry: Entry, in place: Place) -> [String] {
        switch entry {
        case .item(let item):
            [
                Size.text(item.contentBytes), Size.text(item.storedBytes), item.encoding.name,
                item.expiresAt.map { Timestamp.text(milliseconds: $0) } ?? "never",
                (item.destination?.text ?? "none").escapedForTerminal, item.source.escapedForTerminal,
                item.key.string.escapedForTerminal,
            ]
        case .partial(let partial):
            [
                Size.text(partial.contentBytes), Size.text(partial.storedBytes), "partial",
                Timestamp.text(milliseconds: partial.expiresAt),
                (partial.destination?.text ?? "none").escapedForTerminal, partial.source.escapedForTerminal,
                partial.key.string.escapedForTerminal,
            ]
        case .promoted(let file):
            [
                Timestamp.text(milliseconds: file.openedAt), Size.text(file.contentBytes),
                file.presentBytes.map(Size.text) ?? "none", file.backup.name, file.location.area.name,
                file.key.string.escapedForTerminal,
                place.relativePath(file.location).escapedForTerminal,
            ]
        }
    }
}

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
            the items. Items that are being written are not listed. --opened lists instead the files that items \
            were handed over as, in the order of their first open, including those that the user has since moved \
            or deleted, and those that cannot be accessed: NOW shows the present length, or none.
            """))

    @Flag(help: "Also list the kept parts of interrupted items.")
    var partials = false

    @Flag(help: "List the opened files instead.")
    var opened = false

    @OptionGroup var shared: SharedOptions

    func validate() throws {
        if opened, partials { throw ValidationError("give either --opened or --partials, not both") }
    }

    func perform(in session: Session) async throws {
        let listed = try await subjects(in: session.cache)
        if session.output.isJSON {
            try session.output.print(
                json: listed.lazy.map { ListedRecord($0, in: session.place) }, as: "items")
        } else if listed.isEmpty {
            try session.output.print(opened ? "nothing was opened" : "no items")
        } else {
            try printTable(of: listed, in: session)
        }
    }

    private func subjects(in cache: PrefetchCache) async throws(CacheError) -> [ListedRecord.Subject] {
        if opened { return try await cache.promotedFiles().map(ListedRecord.Subject.promoted) }
        let items = try await cache.items().map(ListedRecord.Subject.item)
        return partials ? items + (try await cache.partials().map(ListedRecord.Subject.partial)) : items
    }

    private func printTable(of listed: [ListedRecord.Subject], in session: Session) throws {
        var table =
            opened
            ? TextTable([.left, .right, .right, .left, .left, .left, .left])
            : TextTable([.right, .right, .left, .left, .left, .left, .left])
        table.add(
            opened
                ? ["OPENED", "CONTENT", "NOW", "BACKUP", "AREA", "KEY", "PATH"]
                : ["CONTENT", "STORED", "ENCODING", "EXPIRES", "DESTINATION", "SOURCE", "KEY"])
        for subject in listed { table.add(row(of: subject, in: session.place)) }
        for line in table.lines { try session.output.print(line) }
    }

    private func row(of subject: ListedRecord.Subject, in place: Place) -> [String] {
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
        case .promoted(let file):
            [
                Timestamp.text(milliseconds: file.openedAt), Size.text(file.contentLength),
                file.presentLength.map(Size.text) ?? "none", file.backup.name, file.location.area.name,
                file.key.string.escapedForTerminal,
                place.relativePath(file.location).escapedForTerminal,
            ]
        }
    }
}

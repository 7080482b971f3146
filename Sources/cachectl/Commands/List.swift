internal import ArgumentParser
internal import PrefetchCaching

struct List: CacheCommand {
    static let configuration = CommandConfiguration(
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

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        if opened {
            let files = try await cache.promotedFiles()
            if output.isJSON {
                return try output.print(json: files.lazy.map { $0.json(in: place) }, as: "items")
            }
            var table = TextTable([.left, .right, .right, .left, .left, .left, .left])
            table.add(["OPENED", "CONTENT", "NOW", "BACKUP", "AREA", "KEY", "PATH"])
            for file in files { table.add(row(of: file, in: place)) }
            return try output.print(files.isEmpty ? ["nothing was opened"] : table.lines)
        }
        let items = try await cache.items()
        let partials = try await self.partials ? cache.partials() : []
        if output.isJSON {
            let records = (0..<items.count + partials.count).lazy.map {
                $0 < items.count ? items[$0].json(in: place) : partials[$0 - items.count].json
            }
            return try output.print(json: records, as: "items")
        }
        var table = TextTable([.right, .right, .left, .left, .left, .left, .left])
        table.add(["CONTENT", "STORED", "ENCODING", "EXPIRES", "DESTINATION", "SOURCE", "KEY"])
        for item in items { table.add(row(of: item)) }
        for partial in partials { table.add(row(of: partial)) }
        try output.print(items.isEmpty && partials.isEmpty ? ["no items"] : table.lines)
    }

    private func row(of item: CachedItem) -> [String] {
        [
            Size.text(item.contentBytes), Size.text(item.storedBytes), item.encoding.name,
            item.expiresAt.map(Timestamp.text(milliseconds:)) ?? "never", item.destination?.text ?? "none",
            item.source, item.key.string,
        ]
    }

    private func row(of partial: PartialItem) -> [String] {
        [
            Size.text(partial.contentBytes), Size.text(partial.storedBytes), "partial",
            Timestamp.text(milliseconds: partial.expiresAt), partial.destination?.text ?? "none",
            partial.source, partial.key.string,
        ]
    }

    private func row(of file: PromotedFile, in place: Place) -> [String] {
        [
            Timestamp.text(milliseconds: file.openedAt), Size.text(file.contentBytes),
            file.presentBytes.map(Size.text) ?? "none", file.backup.name, file.location.area.name,
            file.key.string, place.relativePath(file.location),
        ]
    }
}

internal import ArgumentParser
internal import PrefetchCaching

struct List: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the cached items, or the opened files.",
        discussion: """
            The first item is the next to be evicted, under the policy lru; 'cachectl show' says of one item how soon it \
            goes and why. AGE is the time since an item was stored.

            --partials also lists, after the items, what was kept of interrupted ones. Items that are being written \
            are not listed. --opened lists the files of opened items instead, in the order in which they were first \
            opened, including those that the user has since moved or deleted and those that cannot be accessed: NOW \
            shows the current length, or none.

            EXAMPLES:
              # List the cached items
              cachectl list --app org.example.app
              # The largest first, of one source
              cachectl list --sort size --source feeds.example.org --app org.example.app
              # The same as JSON, with interrupted items
              cachectl list --partials --json --container ./AppData
              # List the files that opened items became
              cachectl list --opened --app org.example.app
            """)

    enum Order: String, ExpressibleByArgument, CaseIterable {
        case key, size, age, expiry
    }

    @Flag(help: "Also list the kept parts of interrupted items.")
    var partials = false

    @Flag(help: "List the opened files instead.")
    var opened = false

    @Option(
        help: ArgumentHelp(
            "By key, the largest first, the oldest first, or what expires first.", valueName: "order"))
    var sort: Order?

    @Option(help: "Only what came from this source.", transform: String.parse)
    var source: String?

    @Option("Only what was stored, kept or opened longer ago.", "duration", parse: Lifetime.init(_:))
    var olderThan: Lifetime?

    @Option("Only what has more content.", "size", parse: ByteSize.parse)
    var largerThan: ByteCount?

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    func validate() throws {
        if opened, partials { throw ValidationError("give either --opened or --partials, not both") }
        if opened, sort == .expiry { throw ValidationError("what was opened does not expire") }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let entries = try await chosen(of: entries(of: cache))
        if output.isJSON {
            return try output.print(json: entries.lazy.map { $0.json(place) }, as: "items")
        }
        if entries.isEmpty {
            let isChosen = source != nil || olderThan != nil || largerThan != nil
            return try output.print([isChosen ? "none of them" : opened ? "nothing was opened" : "no items"])
        }
        let now = Timestamp.now
        var table = TextTable(
            opened
                ? [.left, .right, .right, .left, .left, .left, .left]
                : [.right, .right, .left, .right, .left, .left, .left, .left])
        table.add(
            opened
                ? ["OPENED", "CONTENT", "NOW", "BACKUP", "AREA", "KEY", "PATH"]
                : ["CONTENT", "STORED", "ENCODING", "AGE", "EXPIRES", "DESTINATION", "SOURCE", "KEY"])
        for entry in entries { table.add(entry.row(in: place, now: now)) }
        try output.print(table.lines)
    }

    private func entries(of cache: PrefetchCache) async throws -> [ListEntry] {
        if opened { return try await cache.promotedFiles().map(ListEntry.opened) }
        let items = try await cache.items().map(ListEntry.item)
        return try await items + (partials ? cache.partials().map(ListEntry.partial) : [])
    }

    private func chosen(of entries: [ListEntry]) -> [ListEntry] {
        let start = olderThan?.start(before: Timestamp.now)
        let chosen = entries.filter { entry in
            // By bytes, as everywhere: text that only looks alike is another source.
            (source.map { entry.source?.utf8.elementsEqual($0.utf8) ?? false } ?? true)
                && (start.map { entry.since < $0 } ?? true)
                && (largerThan.map { entry.contentBytes > $0.bytes } ?? true)
        }
        return switch sort {
        case .key: chosen.sorted { $0.key.string < $1.key.string }
        case .size: chosen.sorted { $0.contentBytes > $1.contentBytes }
        case .age: chosen.sorted { $0.since < $1.since }
        case .expiry: chosen.sorted { $0.expiresAt ?? .max < $1.expiresAt ?? .max }
        case nil: chosen
        }
    }
}

/// A line of the list.
private struct ListEntry {
    let key: ItemKey
    let source: String?
    let contentBytes: Int64
    /// When it was stored, kept or opened, in milliseconds since 1970.
    let since: Int64
    var expiresAt: Int64?
    let json: (Place) -> JSONObject
    private let cells: (_ age: String, _ expiry: String, Place) -> [String]

    static func item(_ item: CachedItem) -> ListEntry {
        ListEntry(
            key: item.key, source: item.source, contentBytes: item.contentBytes, since: item.storedAt,
            expiresAt: item.expiresAt, json: item.json
        ) { age, expiry, _ in
            [
                Size.text(item.contentBytes), Size.text(item.storedBytes), item.encoding.name, age, expiry,
                item.destination?.text ?? "none", item.source.orNone, item.key.string,
            ]
        }
    }

    static func partial(_ partial: PartialItem) -> ListEntry {
        ListEntry(
            key: partial.key, source: partial.source, contentBytes: partial.contentBytes,
            since: partial.keptAt, expiresAt: partial.expiresAt, json: { _ in partial.json }
        ) { age, expiry, _ in
            [
                Size.text(partial.contentBytes), Size.text(partial.storedBytes), "partial", age, expiry,
                partial.destination?.text ?? "none", partial.source.orNone, partial.key.string,
            ]
        }
    }

    static func opened(_ file: PromotedFile) -> ListEntry {
        ListEntry(
            key: file.key, source: file.provenance?.source, contentBytes: file.contentBytes,
            since: file.openedAt, json: file.json
        ) { _, _, place in
            [
                Timestamp.text(milliseconds: file.openedAt), Size.text(file.contentBytes),
                file.presentBytes.map(Size.text) ?? "none", file.backup.name, file.location.area.name,
                file.key.string, place.relativePath(file.location),
            ]
        }
    }

    func row(in place: Place, now: Int64) -> [String] {
        cells(
            Timespan.text(seconds: Double(max(0, now &- since)) / 1000),
            expiresAt.map(Timestamp.text(milliseconds:)) ?? "never", place)
    }
}

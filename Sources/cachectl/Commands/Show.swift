internal import ArgumentParser
internal import PrefetchCache

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// `cachectl show`
struct Show: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything about one key, cached or opened.",
        discussion: Examples.show.discussion())

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        switch try await session.cache.status(of: key) {
        case .cached(let item): try show(item, in: session)
        case .promoted(let item): try show(item, on: session.output)
        case nil: throw CommandFailure(.absent, of: key)
        }
    }

    private func show(_ item: CachedItem, in session: Session) throws {
        let record = ItemRecord(item, in: session.place)
        guard !session.output.isJSON else { return try session.output.print(json: record) }
        var rows = [
            ("status", "cached"),
            ("key", record.key),
            ("source", record.source),
            ("intent", record.intent),
            ("content", Size.exactText(item.contentLength)),
            ("stored", "\(Size.exactText(item.storedLength)), \(record.encoding)"),
            ("charged", Size.exactText(item.chargedLength)),
            ("destination", item.destination.text),
            ("backup", record.destination.backup),
            ("priority", "\(record.priority)"),
            ("stored at", Timestamp.text(milliseconds: item.storedAt)),
        ]
        if let end = item.expiresAt { rows.append(("expires", Timestamp.text(milliseconds: end))) }
        rows += [("last use", "\(item.lastUse)"), ("path", record.path)]
        try printRows(rows, to: session.output)
    }

    private func show(_ item: OpenedItem, on output: Output) throws {
        var record = OpenedRecord(item)
        record.status = "promoted"
        guard !output.isJSON else { return try output.print(json: record) }
        var rows = [
            ("status", "promoted"),
            ("key", record.key),
            ("content", Size.exactText(item.contentLength)),
            ("area", record.area),
        ]
        if let folder = record.folder { rows.append(("folder", folder)) }
        rows += [("name", record.name), ("path", record.path.text)]
        try printRows(rows, to: output)
    }

    private func printRows(_ rows: [(name: String, value: String)], to output: Output) throws {
        var table = TextTable([.left, .left])
        for row in rows { table.add([row.name, row.value.escapedForTerminal]) }
        for line in table.lines { try output.print(line) }
    }
}

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
        abstract: "Tells everything about one key, cached or opened.")

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
        try printRows(
            [
                ("status", "cached"),
                ("key", record.key),
                ("source", record.source),
                ("intent", record.intent),
                ("content", Self.size(item.contentLength)),
                ("stored", "\(Self.size(item.storedLength)), \(record.encoding)"),
                ("charged", Self.size(item.chargedLength)),
                ("destination", "\(record.destination.area)/\(record.destination.name)"),
                ("backup", record.destination.backup),
                ("priority", "\(record.priority)"),
                ("stored at", Timestamp.text(milliseconds: item.storedAt)),
                ("last use", "\(item.lastUse)"),
                ("path", record.path),
            ], to: session.output)
    }

    private func show(_ item: OpenedItem, on output: Output) throws {
        var record = OpenedRecord(item)
        record.status = "promoted"
        guard !output.isJSON else { return try output.print(json: record) }
        try printRows(
            [
                ("status", "promoted"),
                ("key", record.key),
                ("content", Self.size(item.contentLength)),
                ("area", record.area),
                ("name", record.name),
                ("path", record.path),
            ], to: output)
    }

    private func printRows(_ rows: [(name: String, value: String)], to output: Output) throws {
        var table = TextTable([.left, .left])
        for row in rows { table.add([row.name, row.value.escapedForTerminal]) }
        for line in table.lines { try output.print(line) }
    }

    private static func size(_ bytes: Int64) -> String {
        bytes < 1024 ? Size.text(bytes) : "\(Size.text(bytes)) (\(bytes) bytes)"
    }
}

internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem

struct Show: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything about one key, cached or opened.",
        discussion: """
            EXAMPLES:
              # Show where an item is, and how much space it takes
              cachectl show episode-42 --app org.example.podcasts
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        let status = try await session.cache.status(of: key)
        guard let status else { throw CommandFailure(.absent, of: key) }
        if session.output.isJSON {
            switch status {
            case .cached(let item): try session.output.print(json: item.json(in: session.place))
            case .promoted(let item):
                try session.output.print(json: item.jsonAsOpened.adding(["status": "promoted"]))
            }
            return
        }
        var table = TextTable([.left, .left])
        for (name, value) in rows(of: status, in: session.place) {
            if let value { table.add([name, value.escapedForTerminal]) }
        }
        try session.output.print(table.lines)
    }

    private func rows(of status: ItemStatus, in place: Place) -> [(name: String, value: String?)] {
        switch status {
        case .cached(let item):
            [
                ("status", "cached"),
                ("key", item.key.string),
                ("source", item.source),
                ("intent", item.intent.name),
                ("content", Size.exactText(item.contentBytes)),
                ("stored", "\(Size.exactText(item.storedBytes)), \(item.encoding.name)"),
                ("charged", Size.exactText(item.chargedBytes)),
                ("destination", item.destination?.text),
                ("backup", item.destination?.backup.name),
                ("priority", "\(item.priority)"),
                ("stored at", Timestamp.text(milliseconds: item.storedAt)),
                ("expires", item.expiresAt.map { Timestamp.text(milliseconds: $0) }),
                ("last use", "\(item.lastUse)"),
                ("path", place.relativePath(item.location)),
            ]
        case .promoted(let item):
            [
                ("status", "promoted"),
                ("key", item.key.string),
                ("content", Size.exactText(item.contentBytes)),
                ("area", item.location.area.name),
                ("folder", item.folder?.string),
                ("name", item.fileName),
                ("path", item.path.displayText),
            ]
        }
    }
}

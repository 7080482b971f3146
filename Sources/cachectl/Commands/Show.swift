internal import ArgumentParser
internal import PrefetchCaching
internal import PrefetchFileSystem

struct Show: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything about one key: cached, kept in part, or opened.",
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
        guard let status else { return try await showPartial(in: session) }
        if session.output.isJSON {
            switch status {
            case .cached(let item): try session.output.print(json: item.json(in: session.place))
            case .promoted(let item):
                try session.output.print(json: item.jsonAsOpened.adding(["status": "promoted"]))
            }
            return
        }
        try print(rows(of: status, in: session.place), in: session)
    }

    private func showPartial(in session: Session) async throws {
        guard let partial = try await session.cache.partials().first(where: { $0.key == key }) else {
            throw CommandFailure(.absent, of: key)
        }
        if session.output.isJSON { return try session.output.print(json: partial.json) }
        try print(
            [
                ("status", "partial"),
                ("key", partial.key.string),
                ("source", partial.source),
                ("content", "\(Size.exactText(partial.contentBytes)) so far"),
                ("stored", Size.exactText(partial.storedBytes)),
                ("charged", Size.exactText(partial.chargedBytes)),
                ("destination", partial.destination?.text),
                ("kept at", Timestamp.text(milliseconds: partial.keptAt)),
                ("expires", Timestamp.text(milliseconds: partial.expiresAt)),
            ], in: session)
    }

    private func print(_ rows: [(name: String, value: String?)], in session: Session) throws {
        var table = TextTable([.left, .left])
        for (name, value) in rows {
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
                ("opened at", Timestamp.text(milliseconds: item.openedAt)),
                ("path", item.path.displayText),
            ]
        }
    }
}

internal import ArgumentParser
internal import PrefetchCaching

struct Forget: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forgets that an item was opened; its file stays.",
        discussion: """
            The key can then be stored again, even while its file is at its destination. A key whose file was \
            moved or deleted can be stored again anyway.

            EXAMPLES:
              # Let the key be stored again; its file stays
              cachectl forget paper --app org.example.reader
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        guard try await session.cache.forget(key) else {
            throw CommandFailure(
                .notFound, "the item '\(key)' was never opened, or has already been forgotten")
        }
        if session.output.isJSON {
            try session.output.print(json: ["forgotten": key.string])
        } else {
            try session.output.confirm("forgot \(key.string.escapedForTerminal); its file stays")
        }
    }
}

internal import ArgumentParser
internal import PrefetchCaching

struct Forget: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forgets that an item was opened; its file stays, or is deleted.",
        discussion: """
            The key can then be stored again, even while its file is at its destination. A key whose file was \
            moved or deleted can be stored again anyway.

            EXAMPLES:
              # Let the key be stored again; its file stays
              cachectl forget paper --app org.example.reader
              # The user no longer wants it
              cachectl forget paper --delete-file --app org.example.reader
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @Flag(help: "Delete its file as well, even if the user has changed it.")
    var deleteFile = false

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        let cache = session.cache
        var isDeleted = false
        var isThere = false
        if deleteFile, case .promoted = try await cache.status(of: key) {
            isThere = true
            isDeleted = try await cache.deletePromotedFile(key)
        }
        let wasKnown = isThere ? true : try await cache.forget(key)
        guard wasKnown else {
            throw CommandFailure(
                .notFound, "the item '\(key)' was never opened, or has already been forgotten")
        }
        if session.output.isJSON {
            let fileDeleted: JSONObject = deleteFile ? ["fileDeleted": isDeleted] : [:]
            return try session.output.print(
                json: (["forgotten": key.string] as JSONObject).adding(fileDeleted))
        }
        let end =
            switch (deleteFile, isThere, isDeleted) {
            case (false, _, _): "its file stays"
            case (true, _, true): "deleted its file"
            case (true, true, false): "its file stays, as another key has the same one"
            case (true, false, false): "it had no file any more"
            }
        try session.output.confirm("forgot \(key.string.escapedForTerminal); \(end)")
    }
}

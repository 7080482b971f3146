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

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        var json: JSONObject = ["forgotten": key.string]
        var end = "its file stays"
        if deleteFile, case .promoted = try await cache.status(of: key) {
            let isDeleted = try await cache.deletePromotedFile(key)
            end = isDeleted ? "deleted its file" : "its file stays, as another key has the same one"
            json = json.adding(["fileDeleted": isDeleted])
        } else {
            guard try await cache.forget(key) else {
                throw CommandFailure(
                    .notFound, "the item '\(key)' was never opened, or has already been forgotten")
            }
            if deleteFile {
                end = "it had no file any more"
                json = json.adding(["fileDeleted": false])
            }
        }
        try output.report(json, ["forgot \(key); \(end)"], isConfirmation: true)
    }
}

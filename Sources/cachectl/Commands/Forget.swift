internal import ArgumentParser
internal import PrefetchCaching

struct Forget: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forgets that an item was opened.",
        discussion: """
            The key can then be stored again, even while its file is at its destination. A key whose file was \
            moved or deleted can be stored again anyway.

            EXAMPLES:
              # Let the key be stored again; its file stays
              cachectl forget paper --app org.example.reader
              # Several keys
              cachectl forget paper-1 paper-2 --app org.example.reader
              # The user no longer wants it
              cachectl forget paper --delete-file --app org.example.reader
            """)

    @Argument(help: "The keys of the items.", transform: ItemKey.parse)
    var keys: [ItemKey]

    @Flag(help: "Delete the files as well, even if the user has changed them.")
    var deleteFile = false

    @OptionGroup var shared: SharedOptions

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        var records: [JSONObject] = []
        let (unknown, failure) = await each(of: keys) { key in
            guard let (end, isDeleted) = try await forget(key, in: cache) else { return false }
            let json: JSONObject = ["forgotten": key.string]
            records.append(deleteFile ? json.adding(["fileDeleted": isDeleted]) : json)
            if !output.isJSON { try output.confirm("forgot \(key); \(end)") }
            return true
        }
        if output.isJSON {
            if keys.count > 1 {
                try output.print(json: records, as: "keys")
            } else if let record = records.first {
                try output.print(json: record)
            }
        }
        if let failure { throw failure }
        guard unknown.isEmpty else {
            throw CommandFailure(
                .notFound,
                "never opened, or already forgotten: \(unknown.quoted); "
                    + "'cachectl list --opened' shows what was")
        }
    }

    /// - Returns: What became of the file; `nil` if the key is not known as opened.
    private func forget(_ key: ItemKey, in cache: PrefetchCache) async throws -> (String, isDeleted: Bool)? {
        guard case .promoted = try await cache.status(of: key) else {
            return try await cache.forget(key) ? ("it had no file any more", false) : nil
        }
        guard deleteFile else {
            guard try await cache.forget(key) else { return nil }
            return ("its file stays", false)
        }
        return try await cache.deletePromotedFile(key)
            ? ("deleted its file", true) : ("its file stays, as another key has the same one", false)
    }
}

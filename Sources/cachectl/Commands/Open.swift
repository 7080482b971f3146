internal import ArgumentParser
internal import PrefetchCaching
internal import SystemPackage

struct Open: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Hands items over, and prints the paths of their files.",
        discussion: """
            The first open moves an item, whole and durable, to its destination; from then on it is the \
            user's file, and the same path is printed again. Several items are opened together, which is \
            faster than one after the other: one path per line, in the order of the keys. An item that \
            fails has no line, and the exit code is that of the first failure.

            EXAMPLES:
              # Hand an item over, and print its path
              cachectl open paper --app org.example.reader
              # Open several items together
              cachectl open page-1 page-2 page-3 --app org.example.reader
            """)

    @Argument(help: "The keys of the items.", transform: ItemKey.parse)
    var keys: [ItemKey]

    @OptionGroup var shared: SharedOptions

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let progress = output.isQuiet ? nil : WorkProgress.onTerminal()
        defer { progress?.clear() }
        let show = progress.map { progress in { @Sendable (done: OpenProgress) in progress.show(done) } }
        let results = try await cache.open(keys, progress: show)
        progress?.clear()
        var paths: [FilePath] = []
        var records: [JSONObject] = []
        var failures: [CommandFailure] = []
        for (key, result) in zip(keys, results) {
            do {
                switch try result.get() {
                case .miss(let miss): throw CommandFailure(miss, of: key)
                case .hit(let item):
                    paths.append(item.path)
                    records.append(item.jsonAsOpened.adding(["firstOpen": item.isFirstOpen]))
                }
            } catch {
                // With a single key, its failure is the command's failure.
                if keys.count == 1 { throw error }
                let failure = CommandFailure(error)
                failures.append(failure)
                records.append(["key": key.string, "error": failure.message ?? ""])
            }
        }
        if !output.isJSON {
            // Verbatim, for scripts. File names have no control characters, and the caller chose the folder.
            for path in paths { try output.print(verbatim: path.bytes) }
            for failure in failures.dropLast() { failure.report(asJSON: false) }
        } else if keys.count == 1 {
            try output.print(json: records[0])
        } else {
            // The records contain the failures.
            try output.print(json: records, as: "files")
        }
        // In the order of the keys: the last one is reported by who ends the command.
        if let first = failures.first, let last = failures.last {
            throw output.isJSON ? first : CommandFailure(first.code, last.message)
        }
    }
}

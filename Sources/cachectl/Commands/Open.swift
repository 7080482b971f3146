internal import ArgumentParser
internal import PrefetchCache
internal import SystemPackage

/// `cachectl open`
struct Open: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Hands items over to the user, and prints the paths of their files.",
        discussion: Examples.open.discussion(
            """
            The first open moves an item, whole and durable, to its destination; from then on it is the \
            user's file, and the same path is printed again. Several items are opened together, which is \
            faster than one after the other: one path per line, in the order of the keys. An item that \
            fails has no line, and the exit code is that of the first failure.
            """))

    @Argument(help: "The keys of the items.", transform: ItemKey.parse)
    var keys: [ItemKey]

    @OptionGroup var shared: SharedOptions

    func perform(in session: Session) async throws {
        let results = try await opened(in: session)
        if keys.count == 1, let result = results.first {
            try show(try result.get(), of: keys[0], in: session)
        } else {
            try show(results, in: session)
        }
    }

    private func opened(in session: Session) async throws -> [Result<Lookup<OpenedItem>, CacheError>] {
        let cache = session.cache
        guard !session.output.isQuiet, let progress = OpeningProgress.onTerminal() else {
            return try await cache.open(keys)
        }
        defer { progress.clear() }
        return try await cache.open(keys) { progress.show($0) }
    }

    private func show(_ results: [Result<Lookup<OpenedItem>, CacheError>], in session: Session) throws {
        var records: [OpenedRecord.OrFailure] = []
        var failures: [CommandFailure] = []
        for (key, result) in zip(keys, results) {
            do {
                switch try result.get() {
                case .miss(let miss): throw CommandFailure(miss, of: key)
                case .hit(let item):
                    records.append(.opened(record(of: item)))
                    if !session.output.isJSON { try session.output.print(item.path) }
                }
            } catch let failure as CommandFailure {
                failures.append(failure)
                records.append(.failed(key: key.string, error: failure.message ?? ""))
            } catch let error as CacheError {
                let failure = CommandFailure(error)
                failures.append(failure)
                records.append(.failed(key: key.string, error: failure.message ?? ""))
            }
        }
        if session.output.isJSON { try session.output.print(json: records, as: "files") }
        guard let first = failures.first else { return }
        // In JSON the records contain the failures.
        if !session.output.isJSON { for later in failures.dropFirst() { later.report(asJSON: false) } }
        throw first
    }

    private func show(_ lookup: Lookup<OpenedItem>, of key: ItemKey, in session: Session) throws {
        switch lookup {
        case .miss(let miss): throw CommandFailure(miss, of: key)
        case .hit(let item) where session.output.isJSON: try session.output.print(json: record(of: item))
        case .hit(let item):
            // Verbatim, for scripts. The file name has no control characters, and the caller chose the folder.
            try session.output.print(item.path)
        }
    }

    private func record(of item: OpenedItem) -> OpenedRecord {
        var record = OpenedRecord(item)
        record.firstOpen = item.isFirstOpen
        return record
    }
}

internal import ArgumentParser
internal import PrefetchCache
internal import SystemPackage

/// `cachectl put`
struct Put: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Stores a file, or standard input, as an item.",
        discussion: Examples.put.discussion(
            """
            An item waits in the cache until 'open' hands it over. Use --requested for an item that the user \
            has asked for: it goes straight to its destination, cached items make way for it, and the path of \
            its file is printed.
            """))

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @Argument(
        help: "The file with the content; - reads standard input.", completion: .file(),
        transform: FilePath.parse)
    var file: FilePath

    @OptionGroup var item: ItemOptions

    @Option(
        help: ArgumentHelp(
            "How the content is stored; automatic compresses if worthwhile.", valueName: "choice"))
    var encoding = EncodingOption.automatic

    @OptionGroup var shared: SharedOptions

    var needsCache: Bool { false }

    func validate() throws {
        guard item.requested, encoding != .automatic else { return }
        throw ValidationError("--encoding is for cached items; with --requested nothing is cached")
    }

    func checkInput() throws(CommandFailure) { try InputFile.check(file) }

    func perform(in session: Session) async throws {
        let outcome = try await store(InputFile(file), in: session.cache)
        switch outcome {
        case .stored(let summary): try report(summary, to: session.output)
        case .delivered(let item): try report(item, to: session.output)
        case .refused(let refusal): try report(refusal, to: session.output)
        }
    }

    private func store(_ input: InputFile, in cache: PrefetchCache) async throws -> StoreOutcome {
        let metadata = ItemMetadata(
            key: key, source: item.source ?? "", intent: item.intent, destination: item.destination(fileName),
            priority: item.priority ?? 0, expiresAt: item.expiresAt)
        let isWatched =
            !shared.quiet && StandardStreams.isErrorTerminal && input.length ?? 0 > ProgressLine.smallestTotal
        if input.length != nil, !isWatched {
            return try await cache.store(contentsOf: file, as: metadata, encoding: encoding.choice)
        }
        return try await InputTransfer(input, to: cache).run(
            metadata, encoding: encoding.choice, isShown: isWatched)
    }

    private var fileName: FileName {
        if file == InputFile.standardInput { return FileName(sanitizing: key.string) }
        return FileName(sanitizing: file.lastComponent?.string ?? key.string)
    }

    private func report(_ summary: ItemSummary, to output: Output) throws {
        guard output.isJSON else {
            let content = Size.text(summary.contentLength)
            let stored = Size.text(summary.storedLength)
            try output.confirm(
                "stored \(key.string.escapedForTerminal): \(content) as \(stored) (\(summary.encoding.name))")
            return
        }
        try output.print(
            json: StoredRecord(
                key: key.string, encoding: summary.encoding.name, contentBytes: summary.contentLength,
                storedBytes: summary.storedLength))
    }

    private func report(_ item: OpenedItem, to output: Output) throws {
        // Verbatim, as 'open' prints it.
        guard output.isJSON else { return try output.print(item.path) }
        var record = OpenedRecord(item)
        record.firstOpen = item.isFirstOpen
        record.delivered = true
        try output.print(json: record)
    }

    private func report(_ refusal: Refusal, to output: Output) throws {
        if output.isJSON {
            try output.print(json: RefusalRecord(refused: refusal.reason, message: refusal.description))
        }
        throw CommandFailure(refusal, of: key)
    }
}

private struct StoredRecord: Encodable {
    let key: String
    let encoding: String
    let contentBytes: Int64
    let storedBytes: Int64
}

private struct RefusalRecord: Encodable {
    let refused: String
    let message: String
}

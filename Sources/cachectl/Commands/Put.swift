internal import ArgumentParser
internal import PrefetchCache
internal import SystemPackage

/// `cachectl put`
struct Put: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Stores a file, or standard input, as an item.",
        discussion: """
            An item waits in the cache until 'open' hands it over. What the user asked for already is \
            stored with --requested: it goes straight to its destination, cached items make way for it, \
            and the path of its file is printed.
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @Argument(help: "The file with the content; - reads standard input.")
    var file: String

    @Option(help: ArgumentHelp("Where the item goes when it is opened.", valueName: "area"))
    var to = DestinationArea.support

    @Option(
        help: ArgumentHelp(
            "The name that the file gets when it is opened; that of <file> or the key when left out."),
        transform: FileName.parse)
    var name: FileName?

    @Option(
        help: ArgumentHelp(
            "The folder below the area that it goes to, such as Podcasts/Daily; made when it is missing.",
            valueName: "path"),
        transform: FolderPath.parse)
    var folder: FolderPath?

    @Option(help: "The feed or server that the item comes from.")
    var source = ""

    @Option(help: ArgumentHelp("Whether backups shall contain the opened file.", valueName: "choice"))
    var backup = BackupChoice.include

    @Option(
        help: ArgumentHelp(
            "How the content is stored; automatic compresses when it is worth it.", valueName: "choice"))
    var encoding = EncodingOption.automatic

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long the item is worth keeping: 45s, 30m, 12h, 7d or 2w.", valueName: "duration"),
        transform: { try Lifetime($0) })
    var expires: Lifetime?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "From 0 (the default) to 1: items of lower priority are evicted first, and none of a higher one "
                + "for this item.", valueName: "number"),
        transform: Priority.parse)
    var priority: Float?

    @Flag(help: "Hand the item over at once: the user asked for it.")
    var requested = false

    @OptionGroup var shared: SharedOptions

    func validate() throws {
        if to == .icloud, backup == .exclude {
            throw ValidationError("--backup exclude is not for --to icloud: what is there is uploaded")
        }
        guard requested, expires != nil || priority != nil || encoding != .automatic else { return }
        throw ValidationError(
            "--expires, --priority and --encoding are for what stays in the cache; "
                + "with --requested nothing does")
    }

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
            key: key, source: source, intent: requested ? .userRequested : .opportunistic,
            destination: to.destination(fileName, in: folder, backup: backup), priority: priority ?? 0,
            expiresAt: expires?.end(from: Timestamp.now))
        let isWatched =
            StandardStreams.isErrorTerminal && input.length ?? 0 > ProgressLine.smallestTotal
        if input.length != nil, !isWatched {
            return try await cache.store(contentsOf: input.url, as: metadata, encoding: encoding.choice)
        }
        return try await InputTransfer(input, to: cache).run(metadata, encoding: encoding.choice)
    }

    private var fileName: FileName {
        if let name { return name }
        if file == InputFile.standardInputName { return FileName(sanitizing: key.string) }
        return FileName(sanitizing: FilePath(file).lastComponent?.string ?? key.string)
    }

    private func report(_ summary: ItemSummary, to output: Output) throws {
        guard output.isJSON else {
            let content = Size.text(summary.contentLength)
            let stored = Size.text(summary.storedLength)
            try output.print(
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
        guard output.isJSON else { return try output.print(item.path.string) }
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

internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import SystemPackage

struct Put: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Stores a file, a folder or standard input as an item.",
        discussion: """
            An item waits in the cache until 'open' hands it over. Use --requested for an item that the user \
            has asked for: it goes straight to its destination, cached items make room for it, and the path of \
            its file is printed.

            The files of a folder become one item, a bundle: they are stored, evicted and opened together. Opened, \
            it is a folder again, with the same files.

            EXAMPLES:
              # Store a file for later
              cachectl put paper paper.pdf --to documents --app org.example.reader
              # Hand a file over at once
              cachectl put film film.mp4 --requested --container ./AppData
              # Store the files of a folder together
              cachectl put guide ./guide --to documents --app org.example.reader
              # Store standard input, for 12 hours
              cachectl put feed - --expires 12h --app org.example.reader <feed.xml
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @Argument(
        help: "The file with the content, or a folder; - reads standard input.", completion: .file(),
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

    func checkInput() throws {
        if InputFile.isFolder(file) { _ = try BundleSource(file) } else { try InputFile.check(file) }
    }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        switch try await store(in: cache) {
        case .stored(let summary):
            try output.report(
                [
                    "key": key.string, "encoding": summary.encoding.name,
                    "contentBytes": summary.contentBytes, "storedBytes": summary.storedBytes,
                ], [summary.confirmation(of: key)], isConfirmation: true)
        case .delivered(let item) where output.isJSON:
            try output.print(
                json: item.jsonAsOpened.adding(["firstOpen": item.isFirstOpen, "delivered": true]))
        case .delivered(let item):
            // Verbatim, as 'open' prints it.
            try output.print(verbatim: item.path.bytes)
        case .refused(let refusal):
            if output.isJSON {
                try output.print(json: ["refused": refusal.reason, "message": refusal.description])
            }
            throw CommandFailure(refusal, of: key)
        }
    }

    private func store(in cache: PrefetchCache) async throws -> StoreOutcome {
        let metadata = ItemMetadata(
            key: key, source: item.source ?? "", intent: item.requested ? .userRequested : .opportunistic,
            destination: item.destination(fileName), priority: item.priority ?? 0, expiresAt: item.expiresAt)
        if InputFile.isFolder(file) {
            return try await cache.store(contentsOfFolder: file, as: metadata, encoding: encoding.choice)
        }
        let input = try InputFile(file)
        if input.hasLength {
            return try await cache.store(contentsOf: file, as: metadata, encoding: encoding.choice)
        }
        switch try await cache.beginStoring(metadata, encoding: encoding.choice) {
        case .refused(let refusal): return .refused(refusal)
        case .writer(let writer):
            if let refusal = try await copy(input, to: writer) { return .refused(refusal) }
            return try await writer.commit()
        }
    }

    private var fileName: FileName {
        let name = file == InputFile.standardInput ? nil : file.lastComponent?.string
        return FileName(sanitizing: name ?? key.string)
    }

    /// - Returns: The refusal if the cache ran out of room for the item.
    private func copy(_ input: InputFile, to writer: CacheWriter) async throws -> Refusal? {
        // Several chunks of the item format, so that they are compressed in parallel.
        var piece = Data(count: 4 << 20)
        while true {
            let count: Int
            do {
                count = try input.read(into: &piece)
            } catch {
                try await writer.cancel()
                throw error
            }
            if let refusal = try await writer.write(piece.prefix(count)) { return refusal }
            if count < piece.count { return nil }
        }
    }
}

extension ItemSummary {
    func confirmation(of key: ItemKey) -> String {
        "stored \(key): \(Size.text(contentBytes)) as \(Size.text(storedBytes)) (\(encoding.name))"
    }
}

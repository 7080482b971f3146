internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem

struct Show: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything about one key: cached, kept in part, or opened.",
        discussion: """
            EXAMPLES:
              # Show where an item is, and how much space it takes
              cachectl show episode-42 --app org.example.app
            """)

    @Argument(help: "The key of the item.", transform: ItemKey.parse)
    var key: ItemKey

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        switch try await cache.status(of: key) {
        case .cached(let item):
            guard let metadata = try await cache.metadata(of: key) else {
                // The look at its footer has found what any read would, and done the same.
                throw CommandFailure(
                    .damaged,
                    "the file of '\(key)' is damaged, was emptied or has just gone; 'cachectl events --key' tells which; "
                        + "store it again")
            }
            try output.report(
                item.json(in: place).adding(metadata.origin),
                table(item, metadata, in: place) + metadata.parts.lines)
        case .promoted(let file):
            try output.report(
                file.jsonAsShown.adding(["status": "promoted"]), table(file) + file.parts.lines)
        case nil:
            if let partial = try await cache.partials().first(where: { $0.key == key }) {
                try output.report(partial.json, table(partial))
            } else if let lost = try await cache.promotedFiles().first(where: { $0.key == key }) {
                try output.report(lost.jsonAsShown.adding(["status": "lost"]), table(lost, as: "lost"))
            } else {
                throw CommandFailure(.absent, of: key)
            }
        }
    }

    private func table(_ item: CachedItem, _ metadata: ItemMetadata, in place: Place) -> [String] {
        TextTable([
            "status": "cached",
            "key": item.key.string,
            "source": item.source,
            "intent": item.intent.name,
            "content": Size.exactText(item.contentBytes),
            "stored": "\(Size.exactText(item.storedBytes)), \(item.encoding.name)",
            "charged": Size.exactText(item.chargedBytes),
            "destination": item.destination?.text,
            "backup": item.destination?.backup.name,
            "priority": "\(item.priority)",
            "stored at": Timestamp.withAge(milliseconds: item.storedAt),
            "expires": item.expiresAt.map(Timestamp.text(milliseconds:)) ?? "never",
            "entity tag": metadata.validator.entityTag,
            "last modified": metadata.validator.lastModified,
            "url": metadata.url?.absoluteString,
            "attributes": metadata.attributes.text,
            "path": place.relativePath(item.location),
        ]).lines
    }

    private func table(_ partial: PartialItem) -> [String] {
        TextTable([
            "status": "partial",
            "key": partial.key.string,
            "source": partial.source,
            "intent": partial.intent.name,
            "content": "\(Size.exactText(partial.contentBytes)) so far",
            "stored": Size.exactText(partial.storedBytes),
            "charged": Size.exactText(partial.chargedBytes),
            "destination": partial.destination?.text,
            "kept at": Timestamp.text(milliseconds: partial.keptAt),
            "expires": Timestamp.text(milliseconds: partial.expiresAt),
        ]).lines
    }

    private func table(_ file: PromotedFile, as status: String = "promoted") -> [String] {
        TextTable([
            "status": status,
            "key": file.key.string,
            "content": Size.exactText(file.contentBytes),
            "now": file.presentBytes.map(Size.exactText)
                ?? "none: it was moved or deleted, or cannot be accessed",
            "area": file.location.area.name,
            "folder": file.folder?.string,
            "name": file.name.string,
            "backup": file.backup.name,
            "opened at": Timestamp.withAge(milliseconds: file.openedAt),
            "file": file.isAdopted.map { $0 ? "was there already" : "written by the cache" },
            "source": file.provenance?.source,
            "intent": file.provenance?.intent.name,
            "stored at": file.provenance.map { Timestamp.text(milliseconds: $0.storedAt) },
            "entity tag": file.provenance?.validator.entityTag,
            "last modified": file.provenance?.validator.lastModified,
            "url": file.provenance?.url?.absoluteString,
            "attributes": file.provenance?.attributes.text,
            "path": file.path.displayText,
        ]).lines
    }
}

extension [UInt8] {
    /// Attributes as text; `nil` if there are none. What they mean, only the app knows.
    fileprivate var text: String? {
        isEmpty
            ? nil
            : "\(Count.text(count, "byte")): \(Data(prefix(60)).base64EncodedString())\(count > 60 ? "…" : "")"
    }
}

extension [BundlePart] {
    /// A table of the files of a bundle, after an empty line.
    fileprivate var lines: [String] {
        guard !isEmpty else { return [] }
        var table = TextTable([.left, .right])
        for part in self { table.add([part.path.string, Size.exactText(part.contentBytes)]) }
        return [""] + table.lines
    }
}

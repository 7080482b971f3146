internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

struct Show: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything about one item or file.",
        discussion: """
            Of an item: whether it is cached, kept in part or opened, where it came from, and of a cached one how soon \
            it is evicted and why. Of a file: what it is, where it came from and who wanted it, whether it is backed up \
            and what decides that, and what happens to it when space runs short, when the app is offloaded, and after a \
            restore.

            What is no item's key is looked up as a path in the container, or in the areas of the app, and then from the \
            working directory. With --manifest the file of an item is shown in place of the item.

            EXAMPLES:
              # Show where an item is, how much space it takes, and when it would go
              cachectl show episode-42 --app org.example.app
              # Tell the story of a file
              cachectl show Documents/Novel.txt --container ./AppData
              # The file of an item, with what the app's developers say about it
              cachectl show episode-42 --manifest storage.json --app org.example.app
            """)

    @Argument(
        help: ArgumentHelp("The key of an item, or the path of a file.", valueName: "key|path"),
        completion: .file())
    var subject: String

    @OptionGroup var purposes: ManifestOption

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    /// A file can be shown without one.
    var needsCache: Bool { false }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        if purposes.manifest == nil, let key, try await isShown(key, of: cache, at: place, to: output) {
            return
        }
        let manifest = try purposes.read(in: LiveFileSystem())
        let inventory = try FileInventory(
            of: InventoryPlace(areas: place.areas, container: place.container), in: LiveFileSystem())
        defer { inventory.problems.warn() }
        if let key = try keyOfBundle(in: inventory), try await isShown(key, of: cache, at: place, to: output)
        {
            return
        }
        guard let file = try file(in: inventory, place) else {
            try requireCache(in: place.areas)
            if let key { throw try await absence(of: key, in: cache) }
            throw CommandFailure(
                .notFound,
                "there is no file \(ArgumentBytes.shown(subject)); 'cachectl inventory --files' lists the files"
            )
        }
        var outlook: EvictionOutlook?
        if file.kind == .item, let key = file.facts?.key {
            outlook = try await cache.evictionOutlook(of: ItemKey(key))
        }
        let entry =
            file.kind.ownPurpose == nil ? manifest?.entry(for: inventory.path(of: file)) : nil
        try FileStory(
            inventory: inventory, file: file, entry: entry, hasManifest: manifest != nil, outlook: outlook
        ).print(to: output)
    }

    /// `nil` for what cannot be a key, such as a long path.
    private var key: ItemKey? {
        do { return try .parse(subject) } catch { return nil }
    }

    /// The key of the item whose folder the subject is.
    private func keyOfBundle(in inventory: FileInventory) throws -> ItemKey? {
        guard let folder = try inventory.folder(at: .parse(subject), in: LiveFileSystem()) else { return nil }
        return inventory.ledger?.entries.first { !$0.parts.isEmpty && inventory.path(of: $0) == folder }?.key
    }

    private func file(in inventory: FileInventory, _ place: Place) throws -> InventoryFile? {
        let path = try FilePath.parse(subject)
        if path.isRelative, let file = inventory.file(at: path) { return file }
        // Not the path's text: it has no double slashes, but the URLs that keys often are do.
        if path.isText, let file = inventory.file(ofKey: subject) { return file }
        if let file = try inventory.file(onDisk: path, in: LiveFileSystem()) { return file }
        let opened = inventory.ledger?.entries.first { inventory.path(of: $0) == path }
        if let entry = opened {
            let time = Timestamp.text(milliseconds: entry.openedAt)
            throw CommandFailure(
                .notFound,
                "the item '\(entry.key)' was opened at \(time), and its file has been moved or deleted; "
                    + "'cachectl list --opened' shows where it was")
        }
        if try inventory.folder(at: path, in: LiveFileSystem()) != nil {
            throw CommandFailure(
                .notFound,
                "\(ArgumentBytes.shown(subject)) is a folder; give a file in it, which 'cachectl inventory --files' lists"
            )
        }
        return nil
    }

    /// - Returns: Whether there is anything under the key.
    private func isShown(_ key: ItemKey, of cache: PrefetchCache, at place: Place, to output: Output)
        async throws
        -> Bool
    {
        switch try await cache.status(of: key) {
        case .cached(let item):
            guard let metadata = try await cache.metadata(of: key) else {
                // The look at its footer has found what any read would, and done the same.
                throw CommandFailure(
                    .damaged,
                    "the file of '\(key)' is damaged, was emptied or has just gone; 'cachectl events --key' tells which; "
                        + "store it again")
            }
            let outlook = try await cache.evictionOutlook(of: key)
            let prospects = try await lines(outlook, of: cache)
            try output.report(
                item.json(in: place).adding(metadata.origin).adding(["outlook": outlook?.json]),
                table(item, metadata, in: place) + prospects + metadata.parts.lines)
        case .promoted(let file):
            try output.report(
                file.jsonAsShown.adding(["status": "promoted"]), table(file) + file.parts.lines)
        case nil:
            if let partial = try await cache.partials().first(where: { $0.key == key }) {
                try output.report(partial.json, table(partial))
            } else if let lost = try await cache.promotedFiles().first(where: { $0.key == key }) {
                try output.report(lost.jsonAsShown.adding(["status": "lost"]), table(lost, as: "lost"))
            } else {
                return false
            }
        }
        return true
    }

    /// After an empty line, how soon an item goes, and why.
    private func lines(_ outlook: EvictionOutlook?, of cache: PrefetchCache) async throws -> [String] {
        guard let outlook else { return [] }
        let usualAge = try await cache.outlook().usualAge
        let figures = try await cache.history().bySource.first {
            $0.source.utf8.elementsEqual(outlook.item.source.utf8)
        }?.figures
        return [""] + outlook.sentences(wasUsed: (figures?.hits ?? 0) > 0, usualAge: usualAge)
    }

    private func table(_ item: CachedItem, _ metadata: ItemMetadata, in place: Place) -> [String] {
        TextTable([
            "status": "cached",
            "key": item.key.string,
            "source": item.source.orNone,
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
            "source": partial.source.orNone,
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
            "file": file.isAdopted ? "was there already" : "written by the cache",
            "source": file.provenance?.source.orNone,
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

internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

struct Why: Command {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Tells the story of one file: what it is, why it is there, and what will become of it.",
        discussion: """
            Says where the file came from and when, who wanted it, whether it is backed up and what decides \
            that, and what happens to it when space runs short, when the app is offloaded, and after a restore. \
            It changes nothing.

            A path is looked up in the container, or in the areas of the app, and then from the working \
            directory. Anything else is the key of an item.

            EXAMPLES:
              # Tell the story of a file
              cachectl why Documents/Novel.txt --container ./AppData
              # The file of an item, with what the app's developers say about it
              cachectl why episode-42 --manifest storage.json --app org.example.app
            """)

    @Argument(
        help: ArgumentHelp("The path of a file, or the key of an item.", valueName: "path|key"),
        completion: .file())
    var subject: String

    @OptionGroup var purposes: ManifestOption

    @OptionGroup var shared: SharedOptions

    /// Does not open a cache, since opening creates a missing one.
    func run() async throws {
        // Its threads may block.
        try await withTaskExecutorPreference(BlockingExecutor()) {
            let output = shared.output
            try tell(LiveFileSystem(), to: output)
            try output.flush()
        }
    }

    private func tell(_ fileSystem: LiveFileSystem, to output: Output) throws {
        let manifest = try purposes.read(in: fileSystem)
        let place = try shared.place()
        let inventory = try FileInventory(
            of: InventoryPlace(areas: place.areas, container: place.container), in: fileSystem)
        let file = try file(in: inventory, place, fileSystem)
        let path = inventory.containerPath(of: file)
        let story = FileStory(
            inventory: inventory, file: file,
            entry: file.kind.ownPurpose == nil ? manifest?.entry(for: path) : nil,
            hasManifest: manifest != nil,
            evictions: evictions(of: file, place.areas, fileSystem),
            webOrigin: webOrigin(of: file, in: inventory, fileSystem))
        if output.isJSON {
            var parts: JSONObject = [:]
            for part in story.parts { parts = parts.adding([part.name: part.sentences]) }
            var object: JSONObject = ["file": file.json(in: inventory), "story": parts]
            if let entry = story.entry {
                var members: JSONObject = [:]
                for member in entry.members { members = members.adding([member.name: member.value]) }
                object = object.adding(["entry": members])
            }
            try output.print(json: object)
        } else {
            var table = TextTable([.left, .left])
            table.add(["path", inventory.path(of: file).displayText])
            for part in story.parts { table.add([part.name, part.sentences]) }
            try output.print(table.lines)
        }
        inventory.problems.warn()
    }

    private func file(in inventory: FileInventory, _ place: Place, _ fileSystem: LiveFileSystem) throws
        -> InventoryFile
    {
        let path = try FilePath.parse(subject)
        if path.isRelative, let file = inventory.file(at: path) { return file }
        // Not the path's text: it has no double slashes, but the URLs that keys often are do.
        if path.isText, let file = inventory.file(ofKey: subject) { return file }
        if let file = try inventory.file(onDisk: path, in: fileSystem) { return file }
        let name = ArgumentBytes.shown(subject)
        let opened = inventory.ledger?.entries.first {
            $0.key.string == subject || place.relativePath($0.location) == path.string
        }
        if let entry = opened {
            let time = Timestamp.text(milliseconds: entry.openedAt)
            throw CommandFailure(
                .notFound,
                "the item '\(entry.key)' was opened at \(time), and its file has been moved or deleted; "
                    + "'cachectl list --opened' shows where it was")
        }
        if try inventory.hasFolder(at: path) || inventory.hasFolder(onDisk: path, in: fileSystem) {
            throw CommandFailure(
                .notFound, "\(name) is a folder; give a file in it, which 'cachectl inventory --files' lists")
        }
        throw CommandFailure(
            .notFound,
            "there is no file and no item '\(name)'; 'cachectl inventory --files' lists the files, and "
                + "'cachectl list' the keys of the items")
    }

    private func webOrigin(of file: InventoryFile, in inventory: FileInventory, _ fileSystem: LiveFileSystem)
        -> URL?
    {
        guard file.facts == nil, file.kind.ownPurpose == nil else { return nil }
        do {
            return try inventory.webOrigin(of: file, in: fileSystem)
        } catch {
            StandardStreams.writeError(
                "cachectl: warning: \(inventory.path(of: file).displayText): its attributes cannot be read: \(error)"
            )
            return nil
        }
    }

    /// The place of an item among those that the cache evicts, by the catalog.
    private func evictions(of file: InventoryFile, _ areas: StorageAreas, _ fileSystem: LiveFileSystem)
        -> (before: Int, others: Int)?
    {
        guard file.kind == .item, let key = file.facts?.key else { return nil }
        struct Turn {
            let priority: Float
            let lastUse: Int64
        }
        var turns: [Turn] = []
        var own: Turn?
        do throws(CacheError) {
            let folder: Directory
            do throws(FileSystemError) {
                folder = try Directory(at: areas.caches, in: fileSystem)
            } catch {
                throw .fileSystem(error)
            }
            _ = try CatalogSnapshot.forEach(in: folder, at: areas.caches) { item in
                let turn = Turn(priority: item.priority, lastUse: item.lastUse)
                turns.append(turn)
                if item.key.string.utf8.elementsEqual(key.utf8) { own = turn }
            }
        } catch {
            // The inventory has already warned of a catalog that cannot be read.
            return nil
        }
        guard let own else { return nil }
        let before = turns.count { ($0.priority, $0.lastUse) < (own.priority, own.lastUse) }
        return (before, turns.count - 1)
    }
}

internal import FileSystem
internal import ItemFormat
internal import PrefetchCache
internal import SystemPackage

/// Finds out why cached files are there: from the catalog where it agrees with the walk, otherwise from the files
/// themselves.
struct FactFinder {
    private let fileSystem: any FileSystem
    private let codecs = CodecPool(parallelism: 1)

    init(_ fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    func find(_ visitor: inout InventoryVisitor) {
        readCatalog(&visitor)
        var reader = FileReader(fileSystem)
        for index in visitor.items.values where visitor.inventory.files[Int(index)].facts == nil {
            readItem(index, &visitor.inventory, &reader)
        }
        for (hash, index) in visitor.journals {
            readJournal(index, of: visitor.partials[hash], &visitor.inventory, &reader)
        }
    }

    private func readCatalog(_ visitor: inout InventoryVisitor) {
        let path = visitor.inventory.place.areas.caches
        do throws(CacheError) {
            let folder: Directory?
            do {
                folder = try visitor.inventory.areaFolder(path, fileSystem)
            } catch {
                throw .fileSystem(error)
            }
            guard let folder else { return }
            var sources = SharedStrings()
            let items = visitor.items
            var inventory = visitor.inventory
            // A single owner, so that the array of all files is not copied.
            visitor.inventory = StorageInventory(of: inventory.place)
            defer { visitor.inventory = inventory }
            inventory.catalogVersion = try CatalogSnapshot.forEach(in: folder, at: path) { entry in
                guard let index = items[entry.hash],
                    inventory.files[Int(index)].length == entry.storedLength
                else { return }
                inventory.files[Int(index)].facts = InventoryFile.Facts(
                    key: entry.key, source: sources.shared(entry.source),
                    isUserRequested: entry.intent == .userRequested, since: entry.storedAt,
                    contentLength: entry.contentLength)
            }
        } catch {
            visitor.inventory.problems.append(
                .init(
                    path: visitor.inventory.displayed(path),
                    reason: "the catalog cannot be read (\(error)); the items were read instead"))
        }
    }

    private func readItem(_ index: Int32, _ inventory: inout StorageInventory, _ reader: inout FileReader) {
        do {
            let footer = try reader.withFile(index, of: inventory) { file throws(ItemFormatError) in
                try ItemReader(file, of: fileSystem, codecs: codecs).footer
            }
            guard let footer else { return }
            inventory.files[Int(index)].facts = .init(
                footer.metadata, since: footer.metadata.storedAt, contentLength: footer.contentLength)
        } catch {
            note(error, index, &inventory)
        }
    }

    private func readJournal(
        _ index: Int32, of partial: Int32?, _ inventory: inout StorageInventory, _ reader: inout FileReader
    ) {
        do throws(ItemFormatError) {
            let found = try reader.withFile(index, of: inventory) { file throws(ItemFormatError) in
                let journal = try PartialJournal(of: file, in: fileSystem)
                do throws(FileSystemError) {
                    return (journal, try PartialHead(of: file, in: fileSystem)?.keptAt)
                } catch {
                    throw .fileSystem(error)
                }
            }
            guard let (journal, keptAt) = found else { return }
            let facts = InventoryFile.Facts(
                journal.metadata, since: keptAt ?? journal.metadata.storedAt,
                contentLength: journal.contentLength)
            for file in [index, partial].compactMap(\.self) { inventory.files[Int(file)].facts = facts }
        } catch {
            note(error, index, &inventory)
        }
    }

    private func note(_ error: ItemFormatError, _ index: Int32, _ inventory: inout StorageInventory) {
        if case .fileSystem(let error) = error, error.isNotFound || error.isNoRegularFile { return }
        let path = inventory.path(of: inventory.files[Int(index)])
        inventory.problems.append(.init(path: path, reason: "\(error)"))
    }
}

extension InventoryFile.Facts {
    fileprivate init(_ metadata: ItemMetadata, since: Int64, contentLength: Int64) {
        self.init(
            key: metadata.key.string, source: metadata.source,
            isUserRequested: metadata.intent == .userRequested, since: since, contentLength: contentLength)
    }
}

/// Keeps one copy of each of many strings of the same bytes: strings that are only canonically equivalent, which
/// Swift calls equal, are different.
private struct SharedStrings {
    private var strings: [[UInt8]: String] = [:]

    mutating func shared(_ string: String) -> String {
        let bytes = Array(string.utf8)
        if let shared = strings[bytes] { return shared }
        strings[bytes] = string
        return string
    }
}

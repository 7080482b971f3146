internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

extension InventoryWalk {
    /// Determines the facts about cached files: from the catalog if it agrees with the walk, otherwise from the files
    /// themselves.
    mutating func findFacts() {
        readCatalog()
        var reader = FileReader(fileSystem)
        let codecs = CodecPool(parallelism: 1)
        for index in items.values where inventory.files[Int(index)].facts == nil {
            readItem(index, codecs, &reader)
        }
        for (hash, index) in journals { readJournal(index, of: partials[hash], &reader) }
    }

    private mutating func readCatalog() {
        let path = inventory.place.areas.caches
        do throws(CacheError) {
            let folder: Directory?
            do {
                folder = try inventory.areaFolder(path, fileSystem)
            } catch {
                throw .fileSystem(error)
            }
            guard let folder else { return }
            // Interned to save memory, by bytes: Swift's `==` treats canonically equivalent strings as equal.
            var sources: [[UInt8]: String] = [:]
            inventory.catalogVersion = try CatalogSnapshot.forEach(in: folder, at: path) { entry in
                guard let index = items[entry.key.hash],
                    inventory.files[Int(index)].length == entry.storedBytes
                else { return }
                let bytes = Array(entry.source.utf8)
                let source = sources[bytes] ?? entry.source
                sources[bytes] = source
                inventory.files[Int(index)].facts = InventoryFile.Facts(
                    key: entry.key.string, source: source,
                    isUserRequested: entry.intent == .userRequested, since: entry.storedAt,
                    contentBytes: entry.contentBytes)
            }
        } catch {
            inventory.problems.append(
                .init(
                    path: inventory.displayed(path),
                    reason: "the catalog cannot be read (\(error)); the items were read instead"))
        }
    }

    private mutating func readItem(_ index: Int32, _ codecs: CodecPool, _ reader: inout FileReader) {
        do {
            guard
                let footer = try reader.withFile(
                    index, of: inventory, { try ItemReader($0, of: fileSystem, codecs: codecs).footer })
            else { return }
            inventory.files[Int(index)].facts = .init(
                footer.metadata, since: footer.metadata.storedAt, contentBytes: footer.contentBytes)
        } catch {
            note(error, index)
        }
    }

    private mutating func readJournal(
        _ index: Int32, of partial: Int32?, _ reader: inout FileReader
    ) {
        do {
            let found = try reader.withFile(index, of: inventory) { file in
                (
                    try PartialJournal(of: file, in: fileSystem),
                    try PartialHead(of: file, in: fileSystem)?.keptAt
                )
            }
            guard let (journal, keptAt) = found else { return }
            let facts = InventoryFile.Facts(
                journal.metadata, since: keptAt ?? journal.metadata.storedAt,
                contentBytes: journal.contentBytes)
            for file in [index, partial].compactMap(\.self) { inventory.files[Int(file)].facts = facts }
        } catch {
            note(error, index)
        }
    }

    private mutating func note(_ error: any Error, _ index: Int32) {
        if let error = FileSystemError(causing: error), error.isNotFound || error.isNotRegularFile { return }
        let path = inventory.path(of: inventory.files[Int(index)])
        inventory.problems.append(.init(path: path, reason: "\(error)"))
    }
}

extension InventoryFile.Facts {
    fileprivate init(_ metadata: ItemMetadata, since: Int64, contentBytes: Int64) {
        self.init(
            key: metadata.key.string, source: metadata.source,
            isUserRequested: metadata.intent == .userRequested, since: since, contentBytes: contentBytes)
    }
}

/// Opens files of an inventory. Consecutive files in the same folder share its handle.
struct FileReader {
    private let fileSystem: any FileSystem
    private var folder: (number: Int32, handle: Directory)?

    init(_ fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    /// Opens a file and passes it to `body`.
    ///
    /// - Returns: `nil` if the file no longer exists.
    mutating func withFile<Result>(
        _ index: Int32, of inventory: FileInventory, _ body: (Descriptor) throws -> Result
    ) throws -> Result? {
        let file: Descriptor
        let name = inventory.files[Int(index)].name
        do throws(FileSystemError) {
            guard let folder = try folder(inventory.files[Int(index)].folder, of: inventory) else {
                return nil
            }
            // Otherwise a check would itself be the last use of a file.
            let mode = OpenMode.readWithoutAccessTime
            file = try fileSystem.open(FilePath(root: nil, [name]), in: folder.descriptor, mode)
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
        defer { fileSystem.close(file) }
        return try body(file)
    }

    /// Whether a file still exists where the walk found it.
    mutating func isThere(_ index: Int32, of inventory: FileInventory) throws(FileSystemError) -> Bool {
        let file = inventory.files[Int(index)]
        do {
            guard let folder = try folder(file.folder, of: inventory) else { return false }
            let name = FilePath(root: nil, [file.name])
            return try fileSystem.attributes(of: name, in: folder.descriptor) != nil
        } catch {
            if error.isNotFound { return false }
            throw error
        }
    }

    /// What is in a folder now; `nil` if it no longer exists.
    mutating func entries(ofFolder number: Int32, of inventory: FileInventory) throws(FileSystemError)
        -> [DirectoryEntry]?
    {
        guard let folder = try folder(number, of: inventory) else { return nil }
        return try fileSystem.entries(of: folder.descriptor)
    }

    mutating func folder(_ number: Int32, of inventory: FileInventory) throws(FileSystemError)
        -> Directory?
    {
        if let folder, folder.number == number { return folder.handle }
        let root = try Directory(at: inventory.root(ofFolder: number), in: fileSystem)
        guard let handle = try root.open(inventory.pathInWalk(ofFolder: number)) else { return nil }
        folder = (number, handle)
        return handle
    }
}

extension FileSystemError {
    /// The failed system call that caused an error while reading a file or an item; `nil` if there was none.
    init?(causing error: any Error) {
        switch error {
        case let error as FileSystemError, ItemFormatError.fileSystem(let error): self = error
        default: return nil
        }
    }
}

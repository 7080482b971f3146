internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

extension InventoryWalk {
    /// Determines the facts about cached files: from the catalog if it agrees with the walk, otherwise from the files
    /// themselves.
    mutating func findFacts() {
        readCatalog()
        var reader = FileReader(fileSystem)
        let codecs = CodecPool(parallelism: 1)
        for index in items.values where inventory.files[index].facts == nil {
            readFacts(of: [index], &reader) { file, fileSystem in
                let footer = try ItemReader(file, of: fileSystem, codecs: codecs).footer
                return InventoryFile.Facts(
                    footer.metadata, since: footer.metadata.storedAt, contentBytes: footer.contentBytes)
            }
        }
        for (hash, index) in journals {
            readFacts(of: [index] + [partials[hash]].compactMap(\.self), &reader) { file, fileSystem in
                let journal = try PartialJournal(of: file, in: fileSystem)
                let keptAt = try PartialHead(of: file, in: fileSystem)?.keptAt
                return InventoryFile.Facts(
                    journal.metadata, since: keptAt ?? journal.metadata.storedAt,
                    contentBytes: journal.contentBytes)
            }
        }
    }

    private mutating func readCatalog() {
        do {
            guard let folder = try inventory.openFolder(of: .caches, in: fileSystem) else { return }
            // Interned to save memory, by bytes: Swift's `==` treats canonically equivalent strings as equal.
            var sources: [[UInt8]: String] = [:]
            inventory.catalogVersion = try CatalogSnapshot.forEach(
                in: folder, at: inventory.place.areas.caches
            ) { entry in
                guard let index = items[entry.key.hash],
                    inventory.files[index].length == entry.storedBytes
                else { return }
                let bytes = Array(entry.source.utf8)
                let source = sources[bytes] ?? entry.source
                sources[bytes] = source
                inventory.files[index].facts = InventoryFile.Facts(
                    key: entry.key.string, source: source,
                    isUserRequested: entry.intent == .userRequested, since: entry.storedAt,
                    contentBytes: entry.contentBytes)
            }
        } catch {
            inventory.problems.append(
                .init(
                    path: Area.caches.folderInContainer,
                    reason: "the catalog cannot be read (\(error)); the items were read instead"))
        }
    }

    /// Reads the first of some files, for the facts about all of them.
    private mutating func readFacts(
        of files: [Int], _ reader: inout FileReader,
        _ read: (Descriptor, any FileSystem) throws -> InventoryFile.Facts
    ) {
        do {
            guard let facts = try reader.withFile(inventory.files[files[0]], of: inventory, read) else {
                return
            }
            for file in files { inventory.files[file].facts = facts }
        } catch {
            let cause = FileSystemError(causing: error)
            if let cause, cause.isNotFound || cause.isNotRegularFile { return }
            let path = inventory.path(of: inventory.files[files[0]])
            inventory.problems.append(.init(path: path, reason: "\(error)"))
        }
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
    private var folder: (number: Int, handle: Directory)?

    init(_ fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    /// Opens a file and passes it to `body`.
    ///
    /// - Returns: `nil` if the file no longer exists.
    mutating func withFile<Result>(
        _ file: InventoryFile, of inventory: FileInventory,
        _ body: (Descriptor, any FileSystem) throws -> Result
    ) throws -> Result? {
        let descriptor: Descriptor
        do throws(FileSystemError) {
            guard let folder = try folder(file.folder, of: inventory) else { return nil }
            let name = FilePath(root: nil, [file.name])
            // Otherwise a check would itself be the last use of a file.
            descriptor = try fileSystem.open(name, in: folder.descriptor, .readWithoutAccessTime)
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
        defer { fileSystem.close(descriptor) }
        return try body(descriptor, fileSystem)
    }

    /// A folder that the walk found; `nil` if it no longer exists.
    mutating func folder(_ number: Int, of inventory: FileInventory) throws(FileSystemError) -> Directory? {
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

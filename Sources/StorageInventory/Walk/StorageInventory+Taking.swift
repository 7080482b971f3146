package import FileSystem
internal import PrefetchCache
internal import StorageAreas
internal import SystemPackage

extension StorageInventory {
    /// Takes an inventory of a place. Nothing is created, changed or touched there, and a live app waits at
    /// most for the time that it takes to copy its ledger.
    ///
    /// - Throws: ``InventoryError`` when there is nothing to examine. Anything below that cannot be read is
    ///   one of the ``problems``.
    /// - Complexity: O(n) in the files, each of which costs a `stat`. Files in places that are backed up are
    ///   also opened for their marks, and items that the catalog does not know for their footers.
    package init(of place: InventoryPlace, in fileSystem: any FileSystem) throws(InventoryError) {
        let roots = try Self.open(place, fileSystem)
        var visitor = InventoryVisitor(StorageInventory(of: place), fileSystem)
        for (path, area, folder) in roots {
            do {
                let attributes = try fileSystem.attributes(of: folder.descriptor)
                let number = visitor.addRoot(path, area, folder, attributes)
                var walk = TreeWalk(folder)
                walk.walk(from: number, &visitor)
            } catch {
                throw .unreadable(path, error.errno)
            }
        }
        FactFinder(fileSystem).find(&visitor)
        self = visitor.inventory
        // After the walk: the ledger has the entry of a file before the file gets its name.
        readLedger(in: fileSystem)
        recognisePromotedFiles()
    }

    private static func open(_ place: InventoryPlace, _ fileSystem: any FileSystem) throws(InventoryError)
        -> [(FilePath, Area?, Directory)]
    {
        var opened: [(FilePath, Area?, Directory)] = []
        for (path, area) in place.roots {
            do {
                let folder = try fileSystem.open(path, in: .workingDirectory, .directoryFollowingLinks)
                opened.append((path, area, Directory(folder, of: fileSystem)))
            } catch {
                // An app need not have used all of its areas.
                if error.isNotFound { continue }
                throw error.errno == .notDirectory ? .notAFolder(path) : .unreadable(path, error.errno)
            }
        }
        guard !opened.isEmpty else { throw .missing(place.container ?? place.areas.caches) }
        return opened
    }

    private mutating func readLedger(in fileSystem: any FileSystem) {
        let path = place.areas.applicationSupport
        do {
            guard let support = try areaFolder(path, fileSystem) else { return }
            ledger = try LedgerSnapshot(in: support)
        } catch {
            isLedgerKnown = false
            problems.append(
                Problem(path: displayed(path), reason: "the ledger cannot be read: \(error)"))
        }
    }

    /// The folder of an area, or `nil` when it does not exist or something else, such as a link, is at its path.
    func areaFolder(_ path: FilePath, _ fileSystem: any FileSystem) throws(FileSystemError) -> Directory? {
        do {
            guard let container = place.container else {
                return Directory(
                    try fileSystem.open(path, in: .workingDirectory, .directoryFollowingLinks), of: fileSystem
                )
            }
            let root = Directory(
                try fileSystem.open(container, in: .workingDirectory, .directoryFollowingLinks),
                of: fileSystem)
            var relative = path
            guard relative.removePrefix(container.lexicallyNormalized()) else { return nil }
            return try root.open(relative)
        } catch {
            if error.isNotFound || error.isNoRegularFile { return nil }
            throw error
        }
    }

    /// The path of an area as displayed: relative to the container, if there is one.
    func displayed(_ path: FilePath) -> FilePath {
        var path = path
        if let container = place.container { _ = path.removePrefix(container.lexicallyNormalized()) }
        return path
    }
}

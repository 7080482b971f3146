package import PrefetchCaching
package import PrefetchFileSystem
package import PrefetchStorageAreas
package import SystemPackage

/// Every file of an application or container, with what is known about it.
package struct FileInventory: Sendable {
    package internal(set) var folders: [InventoryFolder] = []
    package internal(set) var files: [InventoryFile] = []
    /// The paths that could not be examined or read.
    package internal(set) var problems: [Problem] = []
    /// The number of files and folders that disappeared during the walk.
    package internal(set) var vanished = 0
    /// The content of the ledger; `nil` if it is missing or cannot be read.
    package internal(set) var ledger: LedgerSnapshot?
    /// Whether all promotions are known, because the ledger was read or does not exist.
    package internal(set) var isLedgerKnown = true
    /// The version of the catalog, if there is one.
    package internal(set) var catalogVersion: Int?
    package let place: InventoryPlace

    init(of place: InventoryPlace) {
        self.place = place
    }

    /// Something that an inventory could not determine.
    package struct Problem: Hashable, Sendable {
        package let path: FilePath
        package let reason: String
    }

    /// The path of a folder, relative to the container; for an application as it would be in one, which names the area.
    ///
    /// - Complexity: O(*n*) in the depth.
    package func path(ofFolder number: Int32) -> FilePath { path(ofFolder: number, [], namingArea: true) }

    /// The path of a file; see ``path(ofFolder:)``.
    package func path(of file: InventoryFile) -> FilePath {
        path(ofFolder: file.folder, [FilePath(root: nil, [file.name])], namingArea: true)
    }

    /// The path of a folder below the root of its walk: the container or, for an application, its area.
    func pathInWalk(ofFolder number: Int32) -> FilePath { path(ofFolder: number, [], namingArea: false) }

    private func path(ofFolder number: Int32, _ last: [FilePath], namingArea: Bool) -> FilePath {
        var names = last
        var next = number
        while let parent = folders[Int(next)].parent {
            names.append(folders[Int(next)].name)
            next = parent
        }
        if namingArea, place.container == nil, let area = folders[Int(next)].area {
            names.append(area.folderInContainer)
        }
        // Joined at once: appending components one by one would parse the growing path each time.
        return FilePath(bytes: names.reversed().map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
    }

    /// For each folder, the outermost of those around it and itself that is wanted.
    ///
    /// - Complexity: O(*n*) in the number of folders.
    func outermostFolders(where isWanted: (Int32, InventoryFolder) -> Bool) -> [Int32?] {
        var outermost: [Int32?] = []
        outermost.reserveCapacity(folders.count)
        // A folder comes after its parent.
        for (number, folder) in folders.enumerated() {
            let outer = folder.parent.flatMap { outermost[Int($0)] }
            outermost.append(outer ?? (isWanted(Int32(number), folder) ? Int32(number) : nil))
        }
        return outermost
    }

    /// The outermost folders with a name that is wanted; see ``outermostFolders(where:)``.
    func namedFolders(where isWanted: (FilePath.Component) -> Bool) -> [Int32?] {
        outermostFolders { _, folder in
            folder.parent != nil && folder.name.lastComponent.map(isWanted) ?? false
        }
    }

    /// The absolute path of the root of the walk that found a folder.
    func root(ofFolder number: Int32) -> FilePath {
        var next = number
        while let parent = folders[Int(next)].parent { next = parent }
        return folders[Int(next)].name
    }
}

extension FileInventory {
    /// Takes an inventory of a container or an application without modifying anything. Blocks a running app at most
    /// while its ledger is copied.
    ///
    /// - Throws: ``InventoryError`` if there is nothing to examine. Files and folders that cannot be read are recorded
    ///   in ``problems`` instead.
    /// - Complexity: O(*n*) in the number of files, with one `stat` each. Files in locations that are backed up are
    ///   also opened to read their marks, and items missing from the catalog to read their footers.
    package init(of place: InventoryPlace, in fileSystem: any FileSystem) throws(InventoryError) {
        let roots = try Self.open(place, fileSystem)
        var walk = InventoryWalk(FileInventory(of: place), fileSystem)
        for (path, area, folder) in roots {
            do {
                try walk.walk(folder, at: path, area)
            } catch {
                throw .unreadable(path, error.errno)
            }
        }
        walk.findFacts()
        self = walk.inventory
        // After the walk: the ledger entry of a file is written before the file gets its name.
        readLedger(in: fileSystem)
        recognisePromotedFiles()
    }

    private static func open(_ place: InventoryPlace, _ fileSystem: any FileSystem) throws(InventoryError)
        -> [(FilePath, Area?, Directory)]
    {
        var opened: [(FilePath, Area?, Directory)] = []
        for (path, area) in place.roots {
            do {
                opened.append((path, area, try Directory(at: path, in: fileSystem)))
            } catch {
                // An app may not have used all of its areas.
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
            ledger = try LedgerSnapshot(in: support, at: path)
        } catch {
            isLedgerKnown = false
            problems.append(
                Problem(path: displayed(path), reason: "the ledger cannot be read: \(error)"))
        }
    }

    /// The folder of an area, or `nil` if it does not exist or is not a folder.
    func areaFolder(_ path: FilePath, _ fileSystem: any FileSystem) throws(FileSystemError) -> Directory? {
        try ifPresent { () throws(FileSystemError) -> Directory? in
            guard let container = place.container else { return try Directory(at: path, in: fileSystem) }
            let root = try Directory(at: container, in: fileSystem)
            var relative = path
            guard relative.removePrefix(container.lexicallyNormalized()) else { return nil }
            return try root.open(relative)
        } ?? nil
    }

    /// A path as displayed: relative to the container, if it is in one.
    package func displayed(_ path: FilePath) -> FilePath {
        var path = path
        if let container = place.container { _ = path.removePrefix(container.lexicallyNormalized()) }
        return path
    }

    /// The maximum depth of areas and promoted files: the folder of a destination and the path in a bundle have at most 8
    /// components each, and areas are near the root of a walk.
    static let deepest = Int32(2 * FolderPath.maximumDepth + 8)

    private struct AreaFolder: Hashable {
        let area: Area
        let relative: FilePath
    }

    /// Classifies files as promoted according to the ledger.
    mutating func recognisePromotedFiles() {
        guard let entries = ledger?.entries, !entries.isEmpty else { return }
        var expected: [AreaFolder: [FilePath.Component: (entry: Int32, contentBytes: Int64)]] = [:]
        for (number, entry) in entries.enumerated() {
            for (path, contentBytes) in entry.files {
                guard let name = path.lastComponent else { continue }
                let folder = AreaFolder(area: entry.location.area, relative: path.removingLastComponent())
                expected[folder, default: [:]][name] = (Int32(number), contentBytes)
            }
        }
        let names = folders.enumerated().map { number, folder in
            guard let area = folder.area, folder.depth <= Self.deepest else {
                return [FilePath.Component: (entry: Int32, contentBytes: Int64)]()
            }
            let relative = pathInArea(ofFolder: Int32(number))
            return expected[AreaFolder(area: area, relative: relative)] ?? [:]
        }
        for index in files.indices where files[index].kind == .foreign || files[index].kind == .tag {
            guard let (number, contentBytes) = names[Int(files[index].folder)][files[index].name] else {
                continue
            }
            let entry = entries[Int(number)]
            files[index].kind = .promoted
            files[index].isBackupIntended = files[index].isBackupIntended && !entry.isExcluded
            files[index].facts = InventoryFile.Facts(
                key: entry.key.string, source: entry.provenance?.source,
                isUserRequested: entry.provenance.map { $0.intent == .userRequested }, since: entry.openedAt,
                contentBytes: contentBytes, ledgerEntry: number)
        }
    }
}

/// The container or application of which an inventory is taken.
package struct InventoryPlace: Sendable {
    package let areas: StorageAreas
    /// The container, which is examined completely; `nil` for an application, of which only the areas are examined.
    package let container: FilePath?
    /// What takes the backup that is predicted.
    package let backupTool: BackupTool

    package init(areas: StorageAreas, container: FilePath?, backupTool: BackupTool = .system) {
        self.areas = areas
        self.container = container
        self.backupTool = backupTool
    }

    /// Whether the platform's backup depends on areas. For an application on Linux, it depends on marks and tags only.
    var isBackupDecidedByArea: Bool {
        #if canImport(Darwin)
            true
        #else
            container != nil
        #endif
    }

    /// The roots of the walks, each with its area. No folder is walked twice.
    package var roots: [(path: FilePath, area: Area?)] {
        if let container { return [(container, nil)] }
        let areas = Area.allCases.compactMap { area in
            self.areas.path(of: area).map { (path: $0.lexicallyNormalized(), area: area) }
        }
        // Areas may be nested, or share a folder, depending on the user's configuration.
        return areas.enumerated().filter { index, root in
            !areas.enumerated().contains { other, outer in
                other != index && root.path.starts(with: outer.path)
                    && (root.path != outer.path || other < index)
            }
        }.map { ($0.element.path, $0.element.area) }
    }

    /// The areas by path, to recognise those below the root of a walk.
    var inner: [FilePath: Area] {
        var inner: [FilePath: Area] = [:]
        for area in Area.allCases.reversed() {
            if let path = areas.path(of: area) { inner[path.lexicallyNormalized()] = area }
        }
        return inner
    }
}

/// Why an inventory could not be taken.
package enum InventoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Neither the container nor any area exists.
    case missing(FilePath)
    case notAFolder(FilePath)
    case unreadable(FilePath, Errno)

    package var description: String {
        switch self {
        case .missing(let path):
            "there is no folder \(path): specify one that holds an app's Documents, Library and tmp"
        case .notAFolder(let path):
            "\(path) is not a folder: specify one that holds an app's Documents, Library and tmp"
        case .unreadable(let path, let errno): "\(path) cannot be opened (\(errno)): check its permissions"
        }
    }
}

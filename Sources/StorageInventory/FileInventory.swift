package import PrefetchCaching
package import PrefetchFileSystem
package import PrefetchStorageAreas
package import SystemPackage

/// Every file of an application or container, with what is known about it.
package struct FileInventory: Sendable {
    /// A folder comes after its parent.
    package internal(set) var folders: [InventoryFolder] = []
    package internal(set) var files: [InventoryFile] = []
    package internal(set) var problems: [Problem] = []
    package internal(set) var vanished = 0
    /// The content of the ledger; `nil` if it is missing or cannot be read.
    package internal(set) var ledger: LedgerSnapshot?
    /// Whether all promotions are known, because the ledger was read or does not exist.
    package internal(set) var isLedgerKnown = true
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

    /// The path of a folder as a container has it, such as `Library/Caches/a`, also for an app whose areas are apart from
    /// each other.
    ///
    /// - Complexity: O(*n*) in the depth.
    package func path(ofFolder number: Int) -> FilePath {
        (folders[number].area?.folderInContainer ?? "").pushing(pathInArea(ofFolder: number))
    }

    /// The path of a file; see ``path(ofFolder:)``.
    package func path(of file: InventoryFile) -> FilePath { path(ofFolder: file.folder).appending(file.name) }

    /// The path of a folder in its area; outside all areas, that in the container.
    func pathInArea(ofFolder number: Int) -> FilePath {
        let lineage = lineage(ofFolder: number)
        return joined(lineage[((lineage.lastIndex(where: isRootOfArea) ?? 0) + 1)...])
    }

    /// The path of a folder below the root of its walk: the container or, for an application, its area.
    func pathInWalk(ofFolder number: Int) -> FilePath { joined(lineage(ofFolder: number).dropFirst()) }

    /// Joined at once: appending components one by one would parse the growing path each time.
    private func joined(_ numbers: ArraySlice<Int>) -> FilePath {
        FilePath(bytes: numbers.map { folders[$0].name.bytes }.joined(separator: [UInt8(ascii: "/")]))
    }

    /// The absolute path of the root of the walk that found a folder.
    func root(ofFolder number: Int) -> FilePath { folders[lineage(ofFolder: number)[0]].name }

    func absolutePath(ofFolder number: Int) -> FilePath {
        root(ofFolder: number).lexicallyNormalized().pushing(pathInWalk(ofFolder: number))
    }

    func absolutePath(of file: InventoryFile) -> FilePath {
        absolutePath(ofFolder: file.folder).appending(file.name)
    }

    /// The folders above a folder, outermost first, and the folder itself.
    func lineage(ofFolder number: Int) -> [Int] {
        var lineage = [number]
        while let parent = folders[lineage[lineage.count - 1]].parent { lineage.append(parent) }
        return lineage.reversed()
    }

    /// The innermost folder that some folders are or lie in.
    func commonFolder(of numbers: Set<Int>) -> Int? {
        numbers.map(lineage(ofFolder:)).reduce(nil as [Int]?) { common, next in
            common.map { zip($0, next).prefix { $0 == $1 }.map(\.0) } ?? next
        }?.last
    }

    /// The folder around a folder; `nil` for a root of the walk.
    func parent(of folder: InventoryFolder) -> InventoryFolder? { folder.parent.map { folders[$0] } }

    func isRootOfArea(_ number: Int) -> Bool {
        let folder = folders[number]
        guard let area = folder.area else { return false }
        return parent(of: folder).map { $0.area != area } ?? true
    }

    /// For each folder, the outermost of those around it and itself that is wanted.
    func outermostFolders(where isWanted: (Int, InventoryFolder) -> Bool) -> [Int?] {
        var outermost: [Int?] = []
        outermost.reserveCapacity(folders.count)
        for (number, folder) in folders.enumerated() {
            let outer = folder.parent.flatMap { outermost[$0] }
            outermost.append(outer ?? (isWanted(number, folder) ? number : nil))
        }
        return outermost
    }

    /// The outermost folders with a name that is wanted; see ``outermostFolders(where:)``.
    func namedFolders(where isWanted: (FilePath.Component) -> Bool) -> [Int?] {
        outermostFolders { _, folder in
            folder.parent != nil && folder.name.lastComponent.map(isWanted) ?? false
        }
    }

    /// For each folder, how many of some things it and the folders in it hold.
    ///
    /// - Parameter numbers: The numbers of the folders that each is in.
    func counts(in numbers: some Sequence<Int>) -> [Int] {
        var counts = [Int](repeating: 0, count: folders.count)
        for number in numbers { counts[number] += 1 }
        for (number, folder) in folders.enumerated().reversed() {
            if let parent = folder.parent { counts[parent] += counts[number] }
        }
        return counts
    }

    /// The file at a path as a container has it.
    package func file(at path: FilePath) -> InventoryFile? {
        let path = path.lexicallyNormalized()
        return files.first { $0.name == path.lastComponent && self.path(of: $0) == path }
    }

    /// The file at a path that the system knows, absolute or relative to the working directory. Links on the way to it
    /// do not matter; a link as its last name is the file itself.
    package func file(onDisk path: FilePath, in fileSystem: any FileSystem) throws(FileSystemError)
        -> InventoryFile?
    {
        guard let name = path.lastComponent, name.kind == .regular else { return nil }
        let parent = path.removingLastComponent()
        guard let identity = try Self.identity(ofFolder: parent.isEmpty ? "." : parent, in: fileSystem)
        else { return nil }
        return files.first { $0.name == name && folders[$0.folder].attributes.identity == identity }
    }

    /// `nil` if there is no folder at the path.
    private static func identity(ofFolder path: FilePath, in fileSystem: any FileSystem)
        throws(FileSystemError) -> FileAttributes.Identity?
    {
        try ifPresent { () throws(FileSystemError) in
            let folder = try Directory(at: path, in: fileSystem)
            return try fileSystem.attributes(of: folder.descriptor).identity
        }
    }

    /// The file of a key: what was opened rather than what is cached, and that rather than a part of it.
    package func file(ofKey key: String) -> InventoryFile? {
        let bytes = Array(key.utf8)
        let order: [FileKind] = [.promoted, .item, .staged, .partial, .quarantined]
        // Several keys may share a file, of whose facts only one speaks.
        let location = ledger?.entries.first { $0.key.string.utf8.elementsEqual(bytes) }?.location
        let found = files.filter { file in
            if let facts = file.facts, facts.key.utf8.elementsEqual(bytes) { return true }
            guard let location, let entry = ledgerEntry(of: file) else { return false }
            return entry.location == location
        }
        return found.min {
            (order.firstIndex(of: $0.kind) ?? .max) < (order.firstIndex(of: $1.kind) ?? .max)
        }
    }

    /// What the ledger says of a promoted file.
    package func ledgerEntry(of file: InventoryFile) -> LedgerEntry? {
        file.facts?.ledgerEntry.flatMap { ledger?.entries[$0] }
    }

    /// Where the file of an entry belongs, or the folder of a bundle: as a container has it.
    package func path(of entry: LedgerEntry) -> FilePath {
        entry.location.area.folderInContainer.pushing(entry.location.relative)
    }

    /// The folder at a path, as a container has it, or one that the system knows.
    ///
    /// - Returns: Its path as a container has it; `nil` when there is no folder.
    package func folder(at path: FilePath, in fileSystem: any FileSystem) throws(FileSystemError) -> FilePath?
    {
        let normal = path.lexicallyNormalized()
        if folders.indices.contains(where: { self.path(ofFolder: $0) == normal }) { return normal }
        guard let identity = try Self.identity(ofFolder: path, in: fileSystem) else { return nil }
        return folders.indices.first { folders[$0].attributes.identity == identity }.map(path(ofFolder:))
    }

    /// Takes an inventory of a container or an application without modifying anything. Blocks a running app at most
    /// while its ledger is copied.
    ///
    /// - Throws: ``InventoryError`` if there is nothing to examine. Files and folders that cannot be read are recorded
    ///   in ``problems`` instead.
    /// - Complexity: O(*n*) in the number of files, with one `stat` each. Files in locations that are backed up are
    ///   also opened to read their marks, and items missing from the catalog to read their footers.
    package init(of place: InventoryPlace, in fileSystem: any FileSystem) throws(InventoryError) {
        var walk = InventoryWalk(FileInventory(of: place), fileSystem)
        var isMissing = true
        for (path, area) in place.roots {
            do {
                try walk.walk(Directory(at: path, in: fileSystem), at: path, area)
                isMissing = false
            } catch {
                // An app may not have used all of its areas.
                if error.isNotFound { continue }
                throw error.errno == .notDirectory ? .notAFolder(path) : .unreadable(path, error.errno)
            }
        }
        if isMissing { throw .missing(place.container ?? place.areas.caches) }
        walk.findFacts()
        self = walk.inventory
        // After the walk: the ledger entry of a file is written before the file gets its name.
        readLedger(in: fileSystem)
        recognisePromotedFiles()
    }

    private mutating func readLedger(in fileSystem: any FileSystem) {
        do {
            guard let support = try openFolder(of: .applicationSupport, in: fileSystem) else { return }
            ledger = try LedgerSnapshot(in: support, at: place.areas.applicationSupport)
        } catch {
            isLedgerKnown = false
            problems.append(
                Problem(
                    path: Area.applicationSupport.folderInContainer,
                    reason: "the ledger cannot be read: \(error)"))
        }
    }

    /// The folder of an area, or `nil` if it does not exist or is not a folder.
    func openFolder(of area: Area, in fileSystem: any FileSystem) throws(FileSystemError) -> Directory? {
        try ifPresent { () throws(FileSystemError) -> Directory? in
            if let container = place.container {
                return try Directory(at: container, in: fileSystem).open(area.folderInContainer)
            }
            guard let path = place.areas.path(of: area) else { return nil }
            return try Directory(at: path, in: fileSystem)
        } ?? nil
    }

    /// The maximum depth of areas and promoted files: the folder of a destination and the path in a bundle have at most 8
    /// components each, and areas are near the root of a walk.
    static let deepest = 2 * FolderPath.maximumDepth + 8

    /// Classifies files as promoted according to the ledger.
    private mutating func recognisePromotedFiles() {
        guard let entries = ledger?.entries, !entries.isEmpty else { return }
        // By the path as a container has it.
        var expected: [FilePath: [FilePath.Component: (entry: Int, contentBytes: Int64)]] = [:]
        for (number, entry) in entries.enumerated() {
            for (path, contentBytes) in entry.files {
                guard let name = path.lastComponent else { continue }
                let folder = entry.location.area.folderInContainer.pushing(path.removingLastComponent())
                expected[folder, default: [:]][name] = (number, contentBytes)
            }
        }
        let names = folders.enumerated().map { number, folder in
            folder.area == nil || folder.depth > Self.deepest ? nil : expected[path(ofFolder: number)]
        }
        for index in files.indices where files[index].kind == .foreign || files[index].kind == .tag {
            guard let (number, contentBytes) = names[files[index].folder]?[files[index].name] else {
                continue
            }
            let entry = entries[number]
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

    package init(areas: StorageAreas, container: FilePath?) {
        self.areas = areas
        self.container = container
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
        var roots: [(path: FilePath, area: Area?)] = []
        for area in Area.allCases {
            // Areas may be nested, or share a folder, depending on the user's configuration.
            guard let path = areas.path(of: area)?.lexicallyNormalized(),
                !roots.contains(where: { path.starts(with: $0.path) })
            else { continue }
            roots.removeAll { $0.path.starts(with: path) }
            roots.append((path, area))
        }
        return roots
    }

    /// The areas by path, to recognise those below the root of a walk.
    var inner: [FilePath: Area] {
        let paths = Area.allCases.compactMap { area in
            areas.path(of: area).map { ($0.lexicallyNormalized(), area) }
        }
        return Dictionary(paths) { first, _ in first }
    }
}

extension Area {
    /// Where a container has the area, see `StorageAreas.container(at:)`.
    package var folderInContainer: FilePath {
        switch self {
        case .documents: "Documents"
        case .applicationSupport: "Library/Application Support"
        case .caches: "Library/Caches"
        case .temporary: "tmp"
        case .iCloudDrive: "Library/Mobile Documents"
        }
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

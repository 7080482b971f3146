internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Walks folders of any depth and adds what it finds to an inventory. It opens names relative to folder handles, and
/// follows no symbolic links.
struct InventoryWalk {
    /// The maximum number of pending folders kept open at a time.
    private static let openFolders = 64

    private struct Frame {
        let folder: Int32
        var handle: Directory?
        var pending: [FilePath.Component]
    }

    var inventory: FileInventory
    /// The items, journals and kept partials found, by the hash in their names.
    private(set) var items: [KeyHash: Int32] = [:]
    private(set) var journals: [KeyHash: Int32] = [:]
    private(set) var partials: [KeyHash: Int32] = [:]

    let fileSystem: any FileSystem
    private var frames: [Frame] = []
    private let inner: [FilePath: Area]
    /// The exclusions that count; no others are recorded.
    private let honoured: Exclusions
    private var counted: Set<FileAttributes.Identity> = []

    init(_ inventory: FileInventory, _ fileSystem: any FileSystem) {
        self.inventory = inventory
        self.fileSystem = fileSystem
        inner = inventory.place.inner
        honoured = inventory.place.backupTool.honoured
    }

    /// Walks a folder that is not yet in the inventory, recursively.
    mutating func walk(_ root: Directory, at path: FilePath, _ area: Area?) throws(FileSystemError) {
        let attributes = try fileSystem.attributes(of: root.descriptor)
        let area = area ?? inner[path.lexicallyNormalized()]
        let entry = InventoryFolder(
            parent: nil, name: path, depth: 0, area: area, role: area.flatMap(CacheFolder.init(root:)),
            attributes: attributes, isCountedElsewhere: !counted.insert(attributes.identity).inserted,
            exclusions: exclusions(of: area))
        list(root, add(entry, root))
        while let top = frames.indices.last {
            guard let name = frames[top].pending.popLast() else {
                frames.removeLast()
                continue
            }
            let number = frames[top].folder
            let parent = frames[top].handle ?? reopened(number, below: root)
            frames[top].handle = parent
            // Its handle is no longer needed, and deeply nested folders could exceed the descriptor limit.
            if frames[top].pending.isEmpty { frames.removeLast() }
            if let parent { enter(name, in: parent, number) }
        }
    }

    private mutating func enter(_ name: FilePath.Component, in parent: Directory, _ number: Int32) {
        do {
            let path = FilePath(root: nil, [name])
            let folder = Directory(
                try fileSystem.open(path, in: parent.descriptor, .directory), of: fileSystem)
            let attributes = try fileSystem.attributes(of: folder.descriptor)
            list(folder, add(entry(name, in: number, attributes), folder))
        } catch {
            // The folder has disappeared or was replaced.
            if error.isNotFound || error.isNotRegularFile {
                inventory.vanished += 1
            } else {
                addClosedFolder(name, in: number, parent, error)
            }
        }
    }

    private mutating func list(_ folder: Directory, _ number: Int32) {
        let entries: [DirectoryEntry]
        do {
            entries = try fileSystem.entries(of: folder.descriptor)
        } catch {
            return noteUnread(error, number)
        }
        lookForTag(in: folder, number, entries)
        var folders: [FilePath.Component] = []
        for entry in entries {
            if entry.kind == .directory || addFile(entry, in: number, folder) == .directory {
                folders.append(entry.name)
            }
        }
        guard !folders.isEmpty else { return }
        frames.append(Frame(folder: number, handle: folder, pending: folders))
        if frames.count > Self.openFolders { frames[frames.count - Self.openFolders - 1].handle = nil }
    }

    /// Reopens a folder, unless it has been replaced.
    private mutating func reopened(_ number: Int32, below root: Directory) -> Directory? {
        do {
            if let folder = try root.open(inventory.pathInWalk(ofFolder: number)),
                try fileSystem.attributes(of: folder.descriptor).identity
                    == inventory.folders[Int(number)].attributes.identity
            {
                return folder
            }
            inventory.vanished += 1
        } catch {
            if error.isNotFound || error.isNotRegularFile {
                inventory.vanished += 1
            } else {
                note(error, at: number)
            }
        }
        return nil
    }

    /// Adds a folder that cannot be opened, so that its own space is counted.
    private mutating func addClosedFolder(
        _ name: FilePath.Component, in parent: Int32, _ parentFolder: Directory, _ error: FileSystemError
    ) {
        do {
            let path = FilePath(root: nil, [name])
            guard let attributes = try fileSystem.attributes(of: path, in: parentFolder.descriptor) else {
                inventory.vanished += 1
                return
            }
            inventory.folders.append(entry(name, in: parent, attributes))
            noteUnread(error, Int32(inventory.folders.count - 1))
        } catch {
            note(error, at: parent, name)
        }
    }

    private mutating func entry(_ name: FilePath.Component, in parent: Int32, _ attributes: FileAttributes)
        -> InventoryFolder
    {
        let outer = inventory.folders[Int(parent)]
        let innerArea = innerArea(name, in: parent)
        let area = innerArea ?? outer.area
        let role = innerArea.map(CacheFolder.init(root:)) ?? outer.role?.child(name)
        var inherited = outer.exclusions.subtracting(.area)
        inherited.formUnion(exclusions(of: area))
        return InventoryFolder(
            parent: parent, name: FilePath(root: nil, [name]), depth: outer.depth + 1, area: area, role: role,
            attributes: attributes, isCountedElsewhere: !counted.insert(attributes.identity).inserted,
            exclusions: inherited, areMarksKnown: outer.areMarksKnown)
    }

    private func exclusions(of area: Area?) -> Exclusions {
        guard honoured.contains(.area), inventory.place.isBackupDecidedByArea, let area else { return [] }
        return area.promise.backup == .backedUp ? [] : .area
    }

    /// The area of which a folder is the root, if any. Areas are near the root of a walk.
    private func innerArea(_ name: FilePath.Component, in parent: Int32) -> Area? {
        let outer = inventory.folders[Int(parent)]
        guard outer.depth < FileInventory.deepest, outer.role?.isOwn != true else { return nil }
        return inner[
            inventory.root(ofFolder: parent).lexicallyNormalized()
                .pushing(inventory.pathInWalk(ofFolder: parent)).appending(name)]
    }

    private mutating func add(_ entry: InventoryFolder, _ folder: Directory) -> Int32 {
        var entry = entry
        if entry.exclusions.isEmpty, !honoured.isDisjoint(with: .marks) {
            do {
                let marks = try Exclusions(markedOn: folder.descriptor, in: fileSystem)
                    .intersection(honoured)
                entry.exclusions = marks
                entry.isExcludedItself = !marks.isEmpty
            } catch {
                inventory.folders.append(entry)
                noteUnread(error, Int32(inventory.folders.count - 1))
                return Int32(inventory.folders.count - 1)
            }
        }
        inventory.folders.append(entry)
        return Int32(inventory.folders.count - 1)
    }

    /// Reads the `CACHEDIR.TAG` of a folder, if there is one.
    private mutating func lookForTag(in folder: Directory, _ number: Int32, _ entries: [DirectoryEntry]) {
        let entry = inventory.folders[Int(number)]
        if entries.contains(where: { FilePath(root: nil, [$0.name]) == CacheDirectoryTag.name }) {
            do {
                let followsLinks = inventory.place.backupTool.followsLinkedTags
                if try CacheDirectoryTag.isTagged(
                    folder.descriptor, of: fileSystem, followingLinks: followsLinks)
                {
                    inventory.folders[Int(number)].isTagged = true
                    guard honoured.contains(.cacheTag) else { return }
                    if entry.exclusions.isEmpty { inventory.folders[Int(number)].isExcludedItself = true }
                    inventory.folders[Int(number)].exclusions.insert(.cacheTag)
                }
            } catch {
                noteUnread(error, number)
            }
        }
    }

    /// - Returns: The type of the entry, or `nil` if it disappeared.
    private mutating func addFile(_ entry: DirectoryEntry, in number: Int32, _ folder: Directory)
        -> FileAttributes.Kind?
    {
        let path = FilePath(root: nil, [entry.name])
        do {
            guard let attributes = try fileSystem.attributes(of: path, in: folder.descriptor) else {
                inventory.vanished += 1
                return nil
            }
            if attributes.kind != .directory { add(entry.name, attributes, in: number, folder) }
            return attributes.kind
        } catch {
            note(error, at: number, entry.name)
            return nil
        }
    }

    private mutating func add(
        _ name: FilePath.Component, _ attributes: FileAttributes, in number: Int32, _ folder: Directory
    ) {
        let outer = inventory.folders[Int(number)]
        let known = outer.role.flatMap { CacheFile(name, in: $0) }
        let kind = kind(of: name, attributes, known, in: outer)
        var file = InventoryFile(
            folder: number, name: name, kind: kind, length: attributes.length,
            allocated: attributes.allocated,
            isCountedElsewhere: !counted.insert(attributes.identity).inserted,
            linkCount: UInt32(clamping: attributes.linkCount), identity: attributes.identity,
            modified: attributes.modified / 1_000_000,
            area: outer.area, exclusions: outer.exclusions, areMarksKnown: outer.areMarksKnown,
            isBackupIntended: outer.area.map { $0.promise.backup == .backedUp } ?? true)
        if isTag(name, in: outer) {
            file.exclusions.remove(.cacheTag)
            if let parent = outer.parent {
                file.exclusions.formUnion(inventory.folders[Int(parent)].exclusions.intersection(.cacheTag))
            }
        }
        if file.exclusions.isEmpty, attributes.kind == .regular, !honoured.isDisjoint(with: .marks) {
            if let marks = marks(of: name, in: number, folder) {
                file.exclusions = marks
            } else {
                file.areMarksKnown = false
            }
        }
        if outer.role == .staging { file.isBackupIntended = false }
        let index = Int32(inventory.files.count)
        inventory.files.append(file)
        guard attributes.kind == .regular else { return }
        switch known {
        case .item(let hash): items[hash] = index
        case .keptPartial(let hash): partials[hash] = index
        case .journal(let hash): journals[hash] = index
        default: break
        }
    }

    private func kind(
        of name: FilePath.Component, _ attributes: FileAttributes, _ known: CacheFile?,
        in folder: InventoryFolder
    ) -> FileKind {
        switch attributes.kind {
        case .symbolicLink: return .link
        case .directory, .other: return .special
        case .regular: break
        }
        switch known {
        case .item: return .item
        case .partial, .keptPartial: return .partial
        case .journal, .stagedJournal: return .journal
        case .lock: return .lock
        case .quarantined: return .quarantined
        case .staged, .aside: return .staged
        case .ledger: return .ledger
        case .catalog: return .catalog
        case .configuration: return .configuration
        case .history: return .history
        case nil: break
        }
        return isTag(name, in: folder) ? .tag : .foreign
    }

    private func isTag(_ name: FilePath.Component, in folder: InventoryFolder) -> Bool {
        folder.isTagged && FilePath(root: nil, [name]) == CacheDirectoryTag.name
    }

    /// - Returns: `nil` if the marks cannot be read.
    private mutating func marks(of name: FilePath.Component, in number: Int32, _ folder: Directory)
        -> Exclusions?
    {
        do {
            let (fileSystem, honoured) = (fileSystem, honoured)
            return try fileSystem.withFile(
                FilePath(root: nil, [name]), in: folder.descriptor, .readWithoutAccessTime
            ) {
                file throws(FileSystemError) in
                try Exclusions(markedOn: file, in: fileSystem).intersection(honoured)
            }
        } catch {
            if !error.isNotFound { note(error, at: number, name) }
            return nil
        }
    }

    /// Records that a folder, its marks or its tag cannot be read.
    private mutating func noteUnread(_ error: FileSystemError, _ folder: Int32) {
        inventory.folders[Int(folder)].areMarksKnown = false
        note(error, at: folder)
    }

    private mutating func note(_ error: FileSystemError, at folder: Int32, _ name: FilePath.Component? = nil)
    {
        var path = inventory.path(ofFolder: folder)
        if let name { path.append(name) }
        if path.isEmpty { path = inventory.root(ofFolder: folder) }
        inventory.problems.append(.init(path: path, reason: "\(error.operation): \(error.errno)"))
    }
}

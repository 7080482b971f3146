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
        let folder: Int
        var handle: Directory?
        var pending: [FilePath.Component]
    }

    var inventory: FileInventory
    /// The items, journals and kept partials found, by the hash in their names.
    private(set) var items: [KeyHash: Int] = [:]
    private(set) var journals: [KeyHash: Int] = [:]
    private(set) var partials: [KeyHash: Int] = [:]

    let fileSystem: any FileSystem
    private var frames: [Frame] = []
    private let inner: [FilePath: Area]
    private var counted: Set<FileAttributes.Identity> = []

    init(_ inventory: FileInventory, _ fileSystem: any FileSystem) {
        self.inventory = inventory
        self.fileSystem = fileSystem
        inner = inventory.place.inner
    }

    /// Walks a folder that is not yet in the inventory, recursively.
    mutating func walk(_ root: Directory, at path: FilePath, _ area: Area?) throws(FileSystemError) {
        let attributes = try fileSystem.attributes(of: root.descriptor)
        add(path, in: nil, attributes, root, area ?? inner[path.lexicallyNormalized()])
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
            if let parent { enter(FilePath(root: nil, [name]), in: parent, number) }
        }
    }

    /// Reopens a folder, unless it has been replaced.
    private mutating func reopened(_ number: Int, below root: Directory) -> Directory? {
        do {
            let path = inventory.pathInWalk(ofFolder: number)
            guard let folder = try open(path, in: root) else { return nil }
            let identity = try fileSystem.attributes(of: folder.descriptor).identity
            if identity == inventory.folders[number].attributes.identity { return folder }
            inventory.vanished += 1
        } catch {
            note(error, at: number)
        }
        return nil
    }

    /// Opens a folder below another; counts one that has disappeared or was replaced.
    private mutating func open(_ path: FilePath, in outer: Directory) throws(FileSystemError) -> Directory? {
        let folder = try ifPresent { () throws(FileSystemError) in try outer.open(path) } ?? nil
        if folder == nil { inventory.vanished += 1 }
        return folder
    }

    private mutating func enter(_ name: FilePath, in parent: Directory, _ number: Int) {
        do {
            guard let folder = try open(name, in: parent) else { return }
            let attributes = try fileSystem.attributes(of: folder.descriptor)
            add(name, in: number, attributes, folder, innerArea(name, in: number))
        } catch {
            // A folder that cannot be opened is added, so that its own space is counted.
            guard let attributes = attributes(of: name, in: number, parent) else { return }
            append(name, in: number, attributes, innerArea(name, in: number))
            noteUnread(error, inventory.folders.count - 1)
        }
    }

    /// The area of which a folder is the root, if any. Areas are near the root of a walk.
    private func innerArea(_ name: FilePath, in parent: Int) -> Area? {
        let outer = inventory.folders[parent]
        guard outer.depth < FileInventory.deepest, outer.role?.isOwn != true else { return nil }
        return inner[inventory.absolutePath(ofFolder: parent).pushing(name)]
    }

    /// Adds an open folder, and what is in it.
    ///
    /// - Parameters:
    ///   - name: As ``InventoryFolder/name``.
    ///   - area: The area of which the folder is the root, if any.
    private mutating func add(
        _ name: FilePath, in parent: Int?, _ attributes: FileAttributes, _ handle: Directory, _ area: Area?
    ) {
        append(name, in: parent, attributes, area)
        let number = inventory.folders.count - 1
        let entries: [DirectoryEntry]
        do {
            if inventory.folders[number].exclusions.isEmpty {
                let marks = try Exclusions(markedOn: handle.descriptor, in: fileSystem)
                inventory.folders[number].exclusions = marks
                inventory.folders[number].isExcludedItself = !marks.isEmpty
            }
        } catch {
            noteUnread(error, number)
        }
        do {
            entries = try fileSystem.entries(of: handle.descriptor)
        } catch {
            return noteUnread(error, number)
        }
        if entries.contains(where: { isNamedTag($0.name) }) { readTag(in: handle, number) }
        var folders: [FilePath.Component] = []
        for entry in entries {
            if entry.kind == .directory || addFile(entry.name, in: number, handle) == .directory {
                folders.append(entry.name)
            }
        }
        guard !folders.isEmpty else { return }
        frames.append(Frame(folder: number, handle: handle, pending: folders))
        if frames.count > Self.openFolders { frames[frames.count - Self.openFolders - 1].handle = nil }
    }

    private mutating func append(
        _ name: FilePath, in parent: Int?, _ attributes: FileAttributes, _ innerArea: Area?
    ) {
        let outer = parent.map { inventory.folders[$0] }
        let area = innerArea ?? outer?.area
        let role =
            if let innerArea { CacheFolder(root: innerArea) } else {
                name.lastComponent.flatMap { outer?.role?.child($0) }
            }
        var exclusions = outer?.exclusions.subtracting(.area) ?? []
        if inventory.place.isBackupDecidedByArea, let area, area.promise.backup != .backedUp {
            exclusions.insert(.area)
        }
        inventory.folders.append(
            InventoryFolder(
                parent: parent, name: name, depth: outer.map { $0.depth + 1 } ?? 0, area: area, role: role,
                attributes: attributes, isCountedElsewhere: !counted.insert(attributes.identity).inserted,
                exclusions: exclusions, areMarksKnown: outer?.areMarksKnown ?? true))
    }

    private func isNamedTag(_ name: FilePath.Component) -> Bool {
        FilePath(root: nil, [name]) == CacheDirectoryTag.name
    }

    private mutating func readTag(in folder: Directory, _ number: Int) {
        do {
            guard try CacheDirectoryTag.isTagged(folder.descriptor, of: fileSystem) else { return }
            inventory.folders[number].isTagged = true
            if inventory.folders[number].exclusions.isEmpty {
                inventory.folders[number].isExcludedItself = true
            }
            inventory.folders[number].exclusions.insert(.cacheTag)
        } catch {
            noteUnread(error, number)
        }
    }

    /// - Returns: The type of what has the name, or `nil` if it disappeared.
    private mutating func addFile(_ name: FilePath.Component, in number: Int, _ folder: Directory)
        -> FileAttributes.Kind?
    {
        let path = FilePath(root: nil, [name])
        guard let attributes = attributes(of: path, in: number, folder) else { return nil }
        guard attributes.kind != .directory else { return .directory }
        let outer = inventory.folders[number]
        let isRegular = attributes.kind == .regular
        let known = outer.role.flatMap { CacheFile(name, in: $0) }
        let isTag = outer.isTagged && isNamedTag(name)
        var file = InventoryFile(
            folder: number, name: name,
            kind: isRegular
                ? known.map(FileKind.init) ?? (isTag ? .tag : .foreign)
                : attributes.kind == .symbolicLink ? .link : .special,
            length: attributes.length, allocated: attributes.allocated,
            isCountedElsewhere: !counted.insert(attributes.identity).inserted,
            identity: attributes.identity, modified: attributes.modified / 1_000_000, area: outer.area,
            exclusions: outer.exclusions, areMarksKnown: outer.areMarksKnown, isBackupIntended: false)
        file.isBackupIntended = file.isWhereBackedUp && outer.role != .staging
        // The tag does not exclude itself.
        if isTag, inventory.parent(of: outer)?.exclusions.contains(.cacheTag) != true {
            file.exclusions.remove(.cacheTag)
        }
        if file.exclusions.isEmpty, isRegular {
            do {
                file.exclusions = try fileSystem.withFile(
                    path, in: folder.descriptor, .readWithoutAccessTime
                ) { file throws(FileSystemError) in try Exclusions(markedOn: file, in: fileSystem) }
            } catch {
                file.areMarksKnown = false
                if !error.isNotFound { note(error, at: number, path) }
            }
        }
        let index = inventory.files.count
        inventory.files.append(file)
        switch known {
        case .item(let hash) where isRegular: items[hash] = index
        case .keptPartial(let hash) where isRegular: partials[hash] = index
        case .journal(let hash) where isRegular: journals[hash] = index
        default: break
        }
        return attributes.kind
    }

    private mutating func attributes(of name: FilePath, in number: Int, _ folder: Directory)
        -> FileAttributes?
    {
        do {
            if let attributes = try fileSystem.attributes(of: name, in: folder.descriptor) {
                return attributes
            }
            inventory.vanished += 1
        } catch {
            note(error, at: number, name)
        }
        return nil
    }

    /// Records that a folder, its marks or its tag cannot be read.
    private mutating func noteUnread(_ error: FileSystemError, _ folder: Int) {
        inventory.folders[folder].areMarksKnown = false
        note(error, at: folder)
    }

    private mutating func note(_ error: FileSystemError, at folder: Int, _ name: FilePath = "") {
        let path = inventory.path(ofFolder: folder).pushing(name)
        inventory.problems.append(
            .init(
                path: path.isEmpty ? inventory.root(ofFolder: folder) : path,
                reason: "\(error.operation): \(error.errno)"))
    }
}

extension FileKind {
    fileprivate init(_ file: CacheFile) {
        self =
            switch file {
            case .item: .item
            case .partial, .keptPartial: .partial
            case .journal, .stagedJournal: .journal
            case .lock: .lock
            case .quarantined: .quarantined
            case .staged, .aside: .staged
            case .record: .record
            case .catalog: .catalog
            case .configuration: .configuration
            }
    }
}

internal import FileSystem
internal import SystemPackage

/// Walks folders of any depth by handles and names: a path is never resolved twice, and no link is followed.
struct TreeWalk {
    /// The most folders held open at a time, of those with folders yet to be walked.
    private static let openFolders = 64

    private struct Frame {
        let folder: Int32
        var handle: Directory?
        var pending: [FilePath.Component]
    }

    let fileSystem: any FileSystem
    private var frames: [Frame] = []
    private let root: Directory

    init(_ root: Directory) {
        self.root = root
        fileSystem = root.fileSystem
    }

    /// Walks everything below a folder that the visitor knows.
    mutating func walk(from folder: Int32, _ visitor: inout InventoryVisitor) {
        list(root, folder, &visitor)
        while let top = frames.indices.last {
            guard let name = frames[top].pending.popLast() else {
                frames.removeLast()
                continue
            }
            let number = frames[top].folder
            let parent = frames[top].handle ?? reopened(number, &visitor)
            frames[top].handle = parent
            // Its handle is not needed any more, and a chain of folders could exceed the number that a process
            // may hold open.
            if frames[top].pending.isEmpty { frames.removeLast() }
            guard let parent else { continue }
            enter(name, in: parent, number, &visitor)
        }
    }

    private mutating func enter(
        _ name: FilePath.Component, in parent: Directory, _ number: Int32, _ visitor: inout InventoryVisitor
    ) {
        let path = FilePath(root: nil, [name])
        let folder: Directory
        let attributes: FileAttributes
        do {
            folder = Directory(
                try fileSystem.open(path, in: parent.descriptor, .directory), of: fileSystem)
            attributes = try fileSystem.attributes(of: folder.descriptor)
        } catch {
            // It disappeared, or was replaced.
            if error.isNotFound || error.isNoRegularFile { return visitor.noteVanished() }
            return visitor.addClosedFolder(name, in: number, parent, error)
        }
        let child = visitor.addFolder(name, in: number, folder, attributes)
        list(folder, child, &visitor)
    }

    private mutating func list(
        _ folder: Directory, _ number: Int32, _ visitor: inout InventoryVisitor
    ) {
        let entries: [DirectoryEntry]
        do {
            entries = try fileSystem.entries(of: folder.descriptor)
        } catch {
            return visitor.noteUnread(error, number)
        }
        visitor.begin(number, folder, entries)
        var folders: [FilePath.Component] = []
        for entry in entries {
            if entry.kind == .directory || visitor.addFile(entry, in: number, folder) == .directory {
                folders.append(entry.name)
            }
        }
        guard !folders.isEmpty else { return }
        frames.append(Frame(folder: number, handle: folder, pending: folders))
        if frames.count > Self.openFolders { frames[frames.count - Self.openFolders - 1].handle = nil }
    }

    /// Opens a folder again, unless it was replaced by another.
    private func reopened(_ number: Int32, _ visitor: inout InventoryVisitor) -> Directory? {
        do {
            if let folder = try root.open(visitor.inventory.components(ofFolder: number)),
                try fileSystem.attributes(of: folder.descriptor).identity
                    == visitor.inventory.folders[Int(number)].attributes.identity
            {
                return folder
            }
            visitor.noteVanished()
        } catch {
            if error.isNotFound || error.isNoRegularFile {
                visitor.noteVanished()
            } else {
                visitor.note(error, at: number)
            }
        }
        return nil
    }
}

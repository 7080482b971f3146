package import PrefetchFileSystem
package import SystemPackage

/// Where a name leads: a folder, the last component, and what is there.
struct Place {
    let folder: SimulatedDisk.NodeID
    let name: String
    let node: SimulatedDisk.NodeID?
}

extension SimulatedFileSystem.State {
    func place(of path: FilePath, in directory: Descriptor, _ call: String) throws(FileSystemError) -> Place {
        let text = path.string
        let components = text.utf8.split(separator: UInt8(ascii: "/"))
        var folder = SimulatedDisk.root
        if text.utf8.first != UInt8(ascii: "/"), directory != .workingDirectory {
            folder = try node(of: directory, call)
        }
        guard let last = components.last else { return Place(folder: folder, name: "", node: folder) }
        if text == ".." {
            let parent = disk.parent(of: folder)
            return Place(folder: parent, name: "", node: parent)
        }
        for component in components.dropLast() {
            let entries = disk.node(folder).entries
            guard let next = entries[naming.entry(String(Substring(component)), in: entries)] else {
                throw FileSystemError(call, path: path, errno: .noSuchFileOrDirectory)
            }
            guard disk.node(next).kind == .directory else {
                // Links in the middle of a path lead nowhere here.
                throw FileSystemError(call, path: path, errno: .notDirectory)
            }
            folder = next
        }
        let entries = disk.node(folder).entries
        guard last.count <= naming.longest else {
            throw FileSystemError(call, path: path, errno: .fileNameTooLong)
        }
        let name = naming.entry(String(Substring(last)), in: entries)
        return Place(folder: folder, name: name, node: entries[name])
    }

    /// Checks a name that is about to be made.
    func requireAcceptable(_ place: Place, _ call: String) throws(FileSystemError) {
        guard place.node == nil, let errno = naming.refusal(of: place.name) else { return }
        throw FileSystemError(call, path: FilePath(place.name), errno: errno)
    }

    func node(of file: Descriptor, _ call: String) throws(FileSystemError) -> SimulatedDisk.NodeID {
        guard let open = open[file] else { throw FileSystemError(call, errno: .badFileDescriptor) }
        return open.node
    }

    func attributes(of id: SimulatedDisk.NodeID) -> FileAttributes {
        let node = disk.node(id)
        let length = Int64(node.content.count)
        return FileAttributes(
            kind: node.kind, identity: .init(device: node.device, inode: UInt64(id)), length: length,
            allocated: (length + 4095) / 4096 * 4096, linkCount: UInt64(disk.linkCount(of: id)), owner: 1000,
            permissions: node.permissions, modified: 1)
    }
}

extension SimulatedFileSystem {
    package var userID: UInt32 { 1000 }

    package func open(_ name: FilePath, in directory: Descriptor, _ mode: OpenMode)
        throws(FileSystemError) -> Descriptor
    {
        name.requireNoDatabase()
        return try perform(Operation(kind: .open, name: name.string)) { state throws(FileSystemError) in
            func fail(_ errno: Errno) -> FileSystemError {
                FileSystemError("openat", path: name, errno: errno)
            }
            let place = try state.place(of: name, in: directory, "openat")
            let node: SimulatedDisk.NodeID
            switch (mode, place.node) {
            case (.createNew, .some): throw fail(.fileExists)
            case (.createNew(let permissions), nil), (.createIfMissing(let permissions), nil):
                try state.requireAcceptable(place, "openat")
                node = state.makeNode(.regular, permissions, place.name, in: place.folder)
            case (_, nil): throw fail(.noSuchFileOrDirectory)
            case (_, let found?): node = found
            }
            switch (mode, state.disk.node(node).kind) {
            case (.directory, .directory), (.directoryFollowingLinks, .directory): break
            case (.directory, _), (.directoryFollowingLinks, _): throw fail(.notDirectory)
            case (_, .symbolicLink): throw fail(.tooManySymbolicLinkLevels)
            case (.read, _), (.readWithoutAccessTime, _), (.readFollowingLinks, _),
                (.readFollowingLinksWithoutWaiting, _):
                break
            case (_, .directory): throw fail(.isDirectory)
            default: break
            }
            let isWritable =
                switch mode {
                case .readWrite, .createNew, .createIfMissing: true
                default: false
                }
            state.lastDescriptor += 1
            let file = Descriptor(rawValue: state.lastDescriptor)
            state.open[file] = OpenFile(node: node, name: name.string, isWritable: isWritable)
            return file
        }
    }

    package func attributes(of name: FilePath, in directory: Descriptor)
        throws(FileSystemError) -> FileAttributes?
    {
        try perform(Operation(kind: .attributes, name: name.string)) { state throws(FileSystemError) in
            do throws(FileSystemError) {
                return try state.place(of: name, in: directory, "fstatat").node.map(state.attributes)
            } catch {
                guard error.isNotFound else { throw error }
                return nil
            }
        }
    }

    package func makeDirectory(_ name: FilePath, in directory: Descriptor, permissions: FilePermissions)
        throws(FileSystemError) -> Bool
    {
        try perform(Operation(kind: .makeDirectory, name: name.string)) { state throws(FileSystemError) in
            let place = try state.place(of: name, in: directory, "mkdirat")
            guard place.node == nil else { return false }
            try state.requireAcceptable(place, "mkdirat")
            _ = state.makeNode(.directory, permissions, place.name, in: place.folder)
            return true
        }
    }

    package func rename(
        _ name: FilePath, in directory: Descriptor, to newName: FilePath, in newDirectory: Descriptor,
        _ mode: RenameMode
    ) throws(FileSystemError) {
        let operation = Operation(kind: .rename, name: name.string, newName: newName.string)
        try perform(operation) { state throws(FileSystemError) in
            func fail(_ errno: Errno) -> FileSystemError {
                FileSystemError("renameat2", path: name, errno: errno)
            }
            let old = try state.place(of: name, in: directory, "renameat2")
            let new = try state.place(of: newName, in: newDirectory, "renameat2")
            guard let node = old.node else { throw fail(.noSuchFileOrDirectory) }
            guard state.disk.node(old.folder).device == state.disk.node(new.folder).device else {
                throw fail(.improperLink)
            }
            try state.requireAcceptable(new, "renameat2")
            switch mode {
            case .exclusive: if new.node != nil, !isSabotaged(operation) { throw fail(.fileExists) }
            case .exchanging:
                guard let other = new.node else { throw fail(.noSuchFileOrDirectory) }
                // Without a journal, each of the two folders is written for itself.
                state.change(.entry(folder: new.folder, name: new.name, node))
                state.change(.entry(folder: old.folder, name: old.name, other))
                return
            case .replacing: if new.node == node { return }
            }
            if let space, let replaced = new.node, state.disk.linkCount(of: replaced) == 1 {
                try space.change(from: Int64(state.disk.node(replaced).content.count), to: 0, "renameat2")
            }
            if old.folder == new.folder {
                state.change(
                    .renaming(folder: old.folder, name: old.name, newName: new.name, node))
            } else {
                state.change(.entry(folder: new.folder, name: new.name, node))
                state.change(
                    .departure(
                        folder: old.folder, name: old.name, node,
                        .init(folder: new.folder, name: new.name)))
            }
        }
    }

    package func unlink(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        try perform(Operation(kind: .unlink, name: name.string)) { state throws(FileSystemError) in
            let place = try state.place(of: name, in: directory, "unlinkat")
            guard let node = place.node else {
                throw FileSystemError("unlinkat", path: name, errno: .noSuchFileOrDirectory)
            }
            guard state.disk.node(node).kind != .directory else {
                throw FileSystemError("unlinkat", path: name, errno: .isDirectory)
            }
            state.change(.entry(folder: place.folder, name: place.name, nil))
            guard let space, state.disk.linkCount(of: node) == 0 else { return }
            try space.change(from: Int64(state.disk.node(node).content.count), to: 0, "unlinkat")
        }
    }

    package func removeDirectory(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        try perform(Operation(kind: .removeDirectory, name: name.string)) { state throws(FileSystemError) in
            let place = try state.place(of: name, in: directory, "unlinkat")
            guard let node = place.node, state.disk.node(node).entries.isEmpty else {
                throw FileSystemError("unlinkat", path: name, errno: .directoryNotEmpty)
            }
            state.change(.entry(folder: place.folder, name: place.name, nil))
        }
    }
}

internal import PrefetchFileSystem
package import SystemPackage

/// What a disk holds: folders, files, and the records of a database, which are looked at only as a
/// whole.
///
/// A value: a copy of it is a snapshot.
package struct SimulatedDisk: Sendable, Hashable {
    package typealias NodeID = Int

    struct Node: Sendable, Hashable {
        var kind: FileAttributes.Kind
        var device: UInt64
        var permissions: FilePermissions
        var content: [UInt8] = []
        var entries: [String: NodeID] = [:]
        var extendedAttributes: [String: [UInt8]] = [:]
        var isNoDump = false
        var target = ""
    }

    static let root: NodeID = 1

    var nodes: [NodeID: Node] = [
        root: Node(kind: .directory, device: 1, permissions: [.ownerReadWriteExecute])
    ]
    var records: [String: SimulatedRecord] = [:]

    /// An empty disk.
    package init() {}

    func node(_ id: NodeID) -> Node {
        guard let node = nodes[id] else { preconditionFailure("a node is never forgotten") }
        return node
    }

    func linkCount(of id: NodeID) -> Int {
        if id == Self.root { return 1 }
        return nodes.values.reduce(0) { $0 + $1.entries.values.count { $0 == id } }
    }

    /// The names of each folder that has more than one, by the folders that these are in.
    var foldersWithTwoNames: [[(NodeID, String)]] {
        var names: [NodeID: [(NodeID, String)]] = [:]
        for (id, node) in nodes {
            for (name, child) in node.entries where nodes[child]?.kind == .directory {
                names[child, default: []].append((id, name))
            }
        }
        return names.values.filter { $0.count > 1 }.map { $0.sorted { $0 < $1 } }
    }

    /// The folder that a folder is in; the root is in itself.
    func parent(of id: NodeID) -> NodeID {
        nodes.first { $0.value.kind == .directory && $0.value.entries.values.contains(id) }?.key ?? Self.root
    }

    /// The node at an absolute path, no link followed.
    func find(_ path: FilePath) -> NodeID? {
        var current = Self.root
        // `FilePath.components` would take most of the time of a test that looks at many disks.
        for component in path.string.utf8.split(separator: UInt8(ascii: "/")) {
            guard let next = nodes[current]?.entries[String(Substring(component))] else { return nil }
            current = next
        }
        return current
    }

    mutating func apply(_ change: SimulatedChange) {
        switch change {
        case .write(let id, let offset, let bytes):
            let end = offset + bytes.count
            extend(id, to: end)
            nodes[id]?.content.withUnsafeMutableBytes { content in
                UnsafeMutableRawBufferPointer(rebasing: content[offset..<end]).copyBytes(from: bytes)
            }
        case .resize(let id, let length):
            extend(id, to: length)
            let excess = node(id).content.count - length
            nodes[id]?.content.removeLast(excess)
        case .permissions(let id, let permissions): nodes[id]?.permissions = permissions
        case .extendedAttribute(let id, let name, let value): nodes[id]?.extendedAttributes[name] = value
        case .noDump(let id, let isSet): nodes[id]?.isNoDump = isSet
        case .entry(let folder, let name, let id): nodes[folder]?.entries[name] = id
        case .departure(let folder, let name, let id, let arrival):
            if let arrival, node(arrival.folder).entries[arrival.name] != id { return }
            if node(folder).entries[name] == id { nodes[folder]?.entries[name] = nil }
        case .renaming(let folder, let name, let newName, let id):
            if node(folder).entries[name] == id { nodes[folder]?.entries[name] = nil }
            nodes[folder]?.entries[newName] = id
        case .records(let values):
            for (name, value) in values { records[name] = value }
        }
    }

    private mutating func extend(_ id: NodeID, to length: Int) {
        let missing = length - node(id).content.count
        if missing > 0 { nodes[id]?.content += [UInt8](repeating: 0, count: missing) }
    }
}

extension SimulatedDisk {
    /// The content of the regular file at an absolute path.
    package func content(of path: FilePath) -> [UInt8]? {
        guard let id = find(path), node(id).kind == .regular else { return nil }
        return node(id).content
    }

    /// Whether the file at an absolute path, or a folder above it, has the no-dump flag.
    package func isExcluded(_ path: FilePath) -> Bool {
        var path = path
        repeat {
            if let id = find(path), node(id).isNoDump { return true }
        } while path.removeLastComponent() && !path.isEmpty
        return false
    }

    /// The names of the regular files in the folder at an absolute path, each with its content.
    package func files(in path: FilePath) -> [String: [UInt8]] {
        guard let folder = find(path) else { return [:] }
        return node(folder).entries.compactMapValues { id in
            node(id).kind == .regular ? node(id).content : nil
        }
    }

    /// The contents of all regular files below the folder at an absolute path, by their paths there; `nil` if it is no
    /// folder.
    package func tree(_ path: FilePath) -> [String: [UInt8]]? {
        find(path).flatMap { node($0).kind == .directory ? tree($0, "") : nil }
    }

    private func tree(_ id: NodeID, _ prefix: String) -> [String: [UInt8]] {
        node(id).entries.reduce(into: [:]) { files, entry in
            let child = node(entry.value)
            if child.kind == .directory {
                files.merge(tree(entry.value, prefix + entry.key + "/")) { $1 }
            } else {
                files[prefix + entry.key] = child.content
            }
        }
    }

    /// The names of the folders in the folder at an absolute path.
    package func folders(in path: FilePath) -> Set<String> {
        find(path).map { id in
            Set(node(id).entries.filter { node($0.value).kind == .directory }.keys)
        } ?? []
    }

    /// The names of all entries in the folder at an absolute path.
    package func names(in path: FilePath) -> Set<String> {
        find(path).map { Set(node($0).entries.keys) } ?? []
    }
}

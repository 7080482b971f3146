package import PrefetchCaching
package import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
package import SystemPackage

/// How a file of an inventory is found, and what decides whether it is backed up.
extension FileInventory {
    /// The file at a path: relative to the container or, for an application, to one of its areas, or as a container has
    /// it.
    package func file(at path: FilePath) -> InventoryFile? {
        let path = path.lexicallyNormalized()
        guard let name = path.lastComponent else { return nil }
        let bytes = path.bytes
        return files.first {
            $0.name == name && (self.path(of: $0).bytes == bytes || containerPath(of: $0).bytes == bytes)
        }
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
        return files.first {
            $0.name == name && folders[Int($0.folder)].attributes.identity == identity
        }
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
        file.facts?.ledgerEntry.flatMap { ledger?.entries[Int($0)] }
    }

    /// Whether a path is that of a folder.
    package func hasFolder(at path: FilePath) -> Bool {
        let bytes = path.lexicallyNormalized().bytes
        return folders.indices.contains {
            self.path(ofFolder: Int32($0)).bytes == bytes || containerPath(ofFolder: Int32($0)).bytes == bytes
        }
    }

    /// Whether a path that the system knows, absolute or relative to the working directory, is that of a folder.
    package func hasFolder(onDisk path: FilePath, in fileSystem: any FileSystem) throws(FileSystemError)
        -> Bool
    {
        guard let identity = try Self.identity(ofFolder: path, in: fileSystem) else { return false }
        return folders.contains { $0.attributes.identity == identity }
    }

    /// Each reason why backups exclude a file, with the path of the outermost folder that has the mark or the tag. No path
    /// means that the file itself has it, or that the area decides.
    package func exclusionOrigins(of file: InventoryFile) -> [(exclusion: Exclusions, folder: FilePath?)] {
        let lineage = lineage(ofFolder: file.folder)
        let members: [Exclusions] = [.area, .cacheTag, .noDump, .xdgAttribute, .appleAttribute]
        return members.filter { file.exclusions.contains($0) }.map { member in
            guard member != .area else { return (member, nil) }
            let folder = lineage.first { folders[Int($0)].exclusions.contains(member) }
            return (member, folder.map(path(ofFolder:)))
        }
    }
}

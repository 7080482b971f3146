internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// Opens files of an inventory to read their content, each folder once for consecutive files.
struct FileReader {
    private let fileSystem: any FileSystem
    private var folder: (number: Int32, handle: Directory)?

    init(_ fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
    }

    /// Opens a file and passes it to `body`.
    ///
    /// - Returns: `nil` when the file does not exist any more.
    mutating func withFile<Result>(
        _ index: Int32, of inventory: StorageInventory,
        _ body: (Descriptor) throws(ItemFormatError) -> Result
    ) throws(ItemFormatError) -> Result? {
        let file: Descriptor
        let name = inventory.files[Int(index)].name
        do {
            guard let folder = try folder(inventory.files[Int(index)].folder, of: inventory) else {
                return nil
            }
            file = try fileSystem.open(FilePath(root: nil, [name]), in: folder.descriptor, .read)
        } catch {
            if error.isNotFound { return nil }
            throw .fileSystem(error)
        }
        defer { fileSystem.close(file) }
        return try body(file)
    }

    /// Whether there is still a file where the walk found one.
    mutating func isThere(_ index: Int32, of inventory: StorageInventory) throws(FileSystemError) -> Bool {
        let file = inventory.files[Int(index)]
        do {
            guard let folder = try folder(file.folder, of: inventory) else { return false }
            let name = FilePath(root: nil, [file.name])
            return try fileSystem.attributes(of: name, in: folder.descriptor) != nil
        } catch {
            if error.isNotFound { return false }
            throw error
        }
    }

    private mutating func folder(_ number: Int32, of inventory: StorageInventory) throws(FileSystemError)
        -> Directory?
    {
        if let folder, folder.number == number { return folder.handle }
        let root = Directory(
            try fileSystem.open(
                inventory.root(ofFolder: number), in: .workingDirectory, .directoryFollowingLinks),
            of: fileSystem)
        guard let handle = try root.open(inventory.components(ofFolder: number)) else { return nil }
        folder = (number, handle)
        return handle
    }
}

extension Directory {
    /// Opens the folder that names lead to, one by one and without following links; `nil` when it does not exist.
    func open(_ names: [FilePath.Component]) throws(FileSystemError) -> Directory? {
        var folder = self
        for name in names {
            guard let next = try folder.open(FilePath(root: nil, [name])) else { return nil }
            folder = next
        }
        return folder
    }
}

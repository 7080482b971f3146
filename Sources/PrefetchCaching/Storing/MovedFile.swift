internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// A file that the caller hands over, which is open, and which other programs may be using.
final class MovedFile {
    let path: FilePath
    let file: Descriptor
    /// Its attributes when it was opened.
    let attributes: FileAttributes
    private let engine: Engine
    private let name: FilePath
    private let folder: Directory
    /// Whether it has another name, under which only the cache can write to it.
    private var isTaken = false

    private var fileSystem: any FileSystem { folder.fileSystem }

    /// - Throws: ``CacheError/notARegularFile(_:)``, also for a symbolic link: what it leads to would stay.
    init(_ path: FilePath, _ engine: Engine) throws(CacheError) {
        let fileSystem = engine.environment.fileSystem
        guard let last = path.lastComponent else { throw .notARegularFile(path.string) }
        self.path = path
        self.engine = engine
        name = FilePath(root: nil, [last])
        folder = try onFiles(Directory(at: path.removingLastComponent(), in: fileSystem))
        try Self.requireOutside(engine, folder, path)
        do {
            file = try fileSystem.open(name, in: folder.descriptor, .read)
        } catch {
            throw error.isNotRegularFile ? .notARegularFile(path.string) : .fileSystem(error.naming(path))
        }
        do throws(CacheError) {
            attributes = try onFiles(fileSystem.attributes(of: file))
            guard attributes.kind == .regular else { throw .notARegularFile(path.string) }
        } catch {
            fileSystem.close(file)
            throw error
        }
    }

    deinit {
        fileSystem.close(file)
    }

    /// Refuses a folder that is one of the cache's, or lies in one.
    private static func requireOutside(_ engine: Engine, _ folder: Directory, _ path: FilePath)
        throws(CacheError)
    {
        let isInside = try onFiles { () throws(FileSystemError) in
            var roots: Set<FileAttributes.Identity> = []
            for root in [engine.folders.current.root, engine.destinations.support.root] {
                roots.insert(try folder.fileSystem.attributes(of: root.descriptor).identity)
            }
            return try folder.isBelow(roots)
        }
        if isInside { throw .fileOfCache(path.string) }
    }

    /// Whether the file could become an item by getting another name, as far as that is known before it is tried: it is
    /// ours alone, and nobody can write to it behind the cache's back.
    func isMovable() throws(CacheError) -> Bool {
        try onFiles { () throws(FileSystemError) in
            let incoming = try fileSystem.attributes(of: engine.folders.current.incoming.descriptor)
            guard attributes.identity.device == incoming.identity.device, attributes.linkCount == 1,
                attributes.owner == fileSystem.userID, try fileSystem.isBeingWritten(file) == false
            else { return false }
            // An item with a hole would count as one that the system has emptied.
            return try !fileSystem.beginsWithHole(file)
        }
    }

    /// Whether the file still has its name, is unchanged since it was opened, and is not being written.
    func isUnchanged() throws(FileSystemError) -> Bool { try isUnchanged(as: name, in: folder) }

    /// - Throws: ``CacheError/fileChanged(_:)``.
    func requireUnchanged() throws(CacheError) {
        let isWritten = try onFiles(fileSystem.isBeingWrittenLastingly(file))
        guard isWritten != true, try onFiles(isUnchanged()) else { throw .fileChanged(path.string) }
    }

    func isUnchanged(as name: FilePath, in folder: Directory) throws(FileSystemError) -> Bool {
        guard try fileSystem.isBeingWritten(file) != true else { return false }
        return try fileSystem.attributes(of: name, in: folder.descriptor)?.isUnchanged(since: attributes)
            ?? false
    }

    /// Gives the file another name.
    ///
    /// - Returns: `false` if that is impossible, and nothing was changed.
    func move(to newName: FilePath, in newFolder: Directory) throws(FileSystemError) -> Bool {
        do {
            try fileSystem.rename(
                name, in: folder.descriptor, to: newName, in: newFolder.descriptor, .exclusive)
            return true
        } catch {
            // Another volume, as two mounts of one may be.
            guard error.errno == .improperLink || error.isNotPermitted || error.isReadOnlyVolume else {
                throw error
            }
            return false
        }
    }

    /// Opens a file that was moved, to append a footer.
    ///
    /// - Throws: ``CacheError/fileChanged(_:)`` for a file that was replaced, or written to since it was opened.
    func take(as newName: FilePath, in newFolder: Directory) throws -> Descriptor {
        guard try isUnchanged(as: newName, in: newFolder) else { throw CacheError.fileChanged(path.string) }
        let file = try fileSystem.open(newName, in: newFolder.descriptor, .readWrite)
        isTaken = true
        return file
    }

    /// Gives a file that was moved its name back, or the next free one, without what the cache may have appended. Does
    /// nothing if it is no longer there.
    func putBack(from newName: FilePath, in newFolder: Directory) throws(FileSystemError) {
        guard let found = try fileSystem.attributes(of: newName, in: newFolder.descriptor) else { return }
        if isTaken, found.identity == attributes.identity {
            try fileSystem.withFile(newName, in: newFolder.descriptor, .readWrite) {
                file throws(FileSystemError) in
                try fileSystem.resize(file, to: attributes.length)
                try fileSystem.setPermissions(attributes.permissions, of: file)
            }
        }
        guard let plainName else {
            return try fileSystem.rename(
                newName, in: newFolder.descriptor, to: name, in: folder.descriptor, .exclusive)
        }
        _ = try engine.files.removal.putBack(newName, as: plainName, from: newFolder, in: folder)
    }

    /// `nil` for a name that no item could have, such as a hidden one.
    private var plainName: FileName? { name.lastComponent.flatMap { FileName(exactly: $0) } }

    /// Removes the file, unless it was changed or replaced since. One that cannot be removed stays.
    ///
    /// - Parameter key: The key of the item that has its content; `nil` if the content is not needed.
    func remove(storedAs key: ItemKey?) {
        do {
            try removeIfUnchanged(key?.hash)
        } catch {
            engine.environment.logger.warning(
                "A file was stored but could not be removed.",
                metadata: ["path": "\(path)", "error": "\(error)"])
        }
    }

    private func removeIfUnchanged(_ hash: KeyHash?) throws {
        // While it has its name: it must not be aside for longer than needed.
        _ = try fileSystem.isBeingWrittenLastingly(file)
        guard let plainName else {
            // There is no name to put it back under.
            if try isUnchanged() { try fileSystem.unlink(name, in: folder.descriptor) }
            return
        }
        let aside = engine.files.nextAsideName(plainName)
        let moved = MovedAside(
            plainName, in: path.removingLastComponent(), by: aside, of: attributes, as: hash)
        try engine.catalog.beginWriting()
        let note = CacheLayout.note(ofMoved: engine.session.nextPartial())
        let incoming = engine.folders.current.incoming
        try moved.write(to: note, in: incoming)
        _ = try engine.files.removal.remove(file, attributes, plainName, in: folder, by: aside, in: folder)
        try fileSystem.unlink(note, in: incoming.descriptor)
    }
}

extension FileName {
    fileprivate init?(exactly name: FilePath.Component) {
        guard let text = String(validating: name) else { return nil }
        do {
            self = try FileName(text)
        } catch {
            return nil
        }
    }
}

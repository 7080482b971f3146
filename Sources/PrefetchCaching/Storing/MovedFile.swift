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

    /// Whether the file still has its name, is unchanged since it was opened, and is not being written.
    func isUnchanged() throws(FileSystemError) -> Bool {
        guard try fileSystem.isBeingWritten(file) != true else { return false }
        return try fileSystem.attributes(of: name, in: folder.descriptor)?.isUnchanged(since: attributes)
            ?? false
    }

    /// - Throws: ``CacheError/fileChanged(_:)``.
    func requireUnchanged() throws(CacheError) {
        let isWritten = try onFiles(fileSystem.isBeingWrittenLastingly(file))
        guard isWritten != true, try onFiles(isUnchanged()) else { throw .fileChanged(path.string) }
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

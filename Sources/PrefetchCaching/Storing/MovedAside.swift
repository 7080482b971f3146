internal import Foundation
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// A note of a file of the caller's that is moved aside in its own folder, to be compared before it is removed. It lies in
/// `incoming/`, under a name of this process: if that dies in between, whoever sweeps it up ends what it has begun.
///
/// Nothing is flushed: after a power cut a file may keep the hidden name.
struct MovedAside: Codable {
    /// The folder, as a path that is not relative.
    let folder: FilePath
    let name: String
    let aside: FilePath
    /// The item that has the content; `nil` if nothing needs to.
    let item: FilePath?
    let device: UInt64
    let inode: UInt64
    let modified: Int64
    let length: Int64

    private static let longest = 64 << 10

    init(
        _ name: FileName, in folder: FilePath, by aside: FilePath, of file: FileAttributes, as hash: KeyHash?
    ) {
        let current = FilePath(FileManager.default.currentDirectoryPath)
        self.folder = folder.isAbsolute ? folder : current.pushing(folder)
        self.name = name.string
        self.aside = aside
        item = hash.map { FilePath("../\(CacheLayout.items)").pushing(CacheLayout.file(of: $0)) }
        (device, inode) = (file.identity.device, file.identity.inode)
        (modified, length) = (file.modified, file.length)
    }

    func write(to note: FilePath, in incoming: Directory) throws {
        let bytes = Array(try JSONEncoder().encode(self))
        try incoming.fileSystem.withFile(
            note, in: incoming.descriptor, .createNew(CacheLayout.filePermissions)
        ) { file throws(FileSystemError) in
            try incoming.fileSystem.writeAll(bytes, to: file, at: 0)
        }
    }

    /// Removes the file that a dead process has moved aside, if its content is stored and nobody has changed it; otherwise
    /// gives it its name back.
    static func settle(_ note: FilePath, in incoming: Directory) throws(FileSystemError) {
        let fileSystem = incoming.fileSystem
        guard let bytes = try fileSystem.contents(of: note, in: incoming.descriptor, limit: longest) else {
            return
        }
        let moved: MovedAside
        let name: FileName
        do {
            moved = try JSONDecoder().decode(Self.self, from: Data(bytes))
            name = try FileName(moved.name)
        } catch {
            // Not complete: nothing was moved yet.
            return
        }
        do throws(FileSystemError) {
            let folder = try Directory(at: moved.folder, in: fileSystem)
            guard let found = try fileSystem.attributes(of: moved.aside, in: folder.descriptor) else {
                return
            }
            let isUnchanged =
                found.identity == .init(device: moved.device, inode: moved.inode)
                && found.modified == moved.modified && found.length == moved.length
            let isStored = try moved.item.map { item throws(FileSystemError) in
                try fileSystem.attributes(of: item, in: incoming.descriptor)?.length ?? 0 > 0
            }
            if isUnchanged, isStored ?? true {
                try fileSystem.unlink(moved.aside, in: folder.descriptor)
            } else {
                _ = try CautiousRemoval(fileSystem: fileSystem).putBack(
                    moved.aside, as: name, from: folder, in: folder)
            }
        } catch {
            // Moved with its folder, or removed.
            guard error.isNotFound || error.isNotRegularFile else { throw error }
        }
    }
}

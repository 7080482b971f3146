internal import FileSystem
internal import ItemFormat
internal import SystemPackage

/// Moves a complete partial into the items. An older item of the key is swapped out and then removed, so that
/// there is no moment without an item.
struct Publication {
    private let hash: KeyHash
    private let target: FilePath
    private let partial: FilePath
    private let incoming: Directory
    private let fileSystem: any FileSystem

    init(of hash: KeyHash, partial: FilePath, in incoming: Directory, _ fileSystem: any FileSystem) {
        self.hash = hash
        target = CacheLayout.file(of: hash)
        self.partial = partial
        self.incoming = incoming
        self.fileSystem = fileSystem
    }

    func publish(in folders: CacheFolders.Handles) throws(CacheError) {
        let items = folders.items
        do throws(FileSystemError) {
            try folders.itemFolders.require(for: hash, in: items)
            do throws(FileSystemError) {
                try rename(in: items, .exclusive)
            } catch {
                guard error.isNotFound else { throw error }
                try folders.itemFolders.make(for: hash, in: items)
                try rename(in: items, .exclusive)
            }
        } catch {
            guard error.errno == .fileExists else { throw .fileSystem(error) }
            try onFiles { () throws(FileSystemError) in try replace(in: items) }
        }
    }

    private func replace(in items: Directory) throws(FileSystemError) {
        do {
            try rename(in: items, .exchanging)
        } catch {
            // Evicted in the meantime, or the file system cannot exchange.
            guard error.isNotFound || error.isUnsupported else { throw error }
            try refuse(foreign: try fileSystem.attributes(of: target, in: items.descriptor))
            return try rename(in: items, .replacing)
        }
        do throws(FileSystemError) {
            try refuse(foreign: try fileSystem.attributes(of: partial, in: incoming.descriptor))
            try fileSystem.unlink(partial, in: incoming.descriptor)
        } catch {
            guard !error.isNotFound else { return }
            // An old file that stays must remain charged, and as the item it is. A link or the like under its
            // name is not ours, and is moved back as well.
            try rename(in: items, .exchanging)
            throw error
        }
    }

    private func refuse(foreign found: FileAttributes?) throws(FileSystemError) {
        guard found?.kind ?? .regular == .regular else {
            throw FileSystemError("rename", errno: .fileExists).naming(target)
        }
    }

    private func rename(in items: Directory, _ mode: RenameMode) throws(FileSystemError) {
        try fileSystem.rename(partial, in: incoming.descriptor, to: target, in: items.descriptor, mode)
    }
}

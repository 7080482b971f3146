internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization
internal import SystemPackage

/// Moves a complete partial into the items. An older item of the key is exchanged atomically and then removed, so that
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
            try onFiles(replace(in: items))
        }
    }

    private func replace(in items: Directory) throws(FileSystemError) {
        do {
            try rename(in: items, .exchanging)
        } catch {
            // Evicted in the meantime, or the file system cannot exchange names.
            guard error.isNotFound || error.isUnsupported else { throw error }
            try refuse(foreign: try fileSystem.attributes(of: target, in: items.descriptor))
            return try rename(in: items, .replacing)
        }
        do throws(FileSystemError) {
            try refuse(foreign: try fileSystem.attributes(of: partial, in: incoming.descriptor))
            try fileSystem.unlink(partial, in: incoming.descriptor)
        } catch {
            guard !error.isNotFound else { return }
            // An old file that cannot be removed must remain the item, and charged. A symbolic link or the like is not
            // ours, and is moved back as well.
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

/// The item folders that this process has created or checked. A rename follows symbolic links in the path, so each
/// folder is checked not to be one before the first item is moved into it.
final class ItemFolders: Sendable {
    private let known = UnfairMutex<Set<UInt8>>([])

    /// Creates the folder for an item, unless it is known.
    ///
    /// - Throws: `ENOTDIR` when the name is taken by something else, such as a symbolic link to a folder.
    func require(for hash: KeyHash, in items: Directory) throws(FileSystemError) {
        if known.withLock({ $0.contains(Self.number(of: hash)) }) { return }
        try make(for: hash, in: items)
    }

    /// As ``require(for:in:)``, for a folder that may have been removed.
    func make(for hash: KeyHash, in items: Directory) throws(FileSystemError) {
        let name = CacheLayout.folder(of: hash)
        let isNew = try items.fileSystem.makeDirectory(
            name, in: items.descriptor, permissions: CacheLayout.folderPermissions)
        if !isNew, let found = try items.fileSystem.attributes(of: name, in: items.descriptor) {
            guard found.kind == .directory else {
                throw FileSystemError("open", path: CacheLayout.items.pushing(name), errno: .notDirectory)
            }
        }
        known.withLock { _ = $0.insert(Self.number(of: hash)) }
    }

    private static func number(of hash: KeyHash) -> UInt8 { UInt8(truncatingIfNeeded: hash.high >> 56) }
}

/// Keeps files and the catalog's notes about them in step, within this process: placing or removing an item and noting
/// it are atomic.
///
/// Otherwise a store and a removal of one key could change the disk in one order and the notes in the other,
/// and leave a file that is not charged.
///
/// Not recursive: a holder must not take another lock, since two hashes may share a stripe.
final class ItemLocks: Sendable {
    private final class Stripe: Sendable {
        let mutex = UnfairMutex(())
    }

    private let stripes = (0..<64).map { _ in Stripe() }

    func hold<Result, Failure: Error>(
        _ hash: KeyHash, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try stripes[Int(hash.low % 64)].mutex.withLock { _ throws(Failure) in try body() }
    }
}

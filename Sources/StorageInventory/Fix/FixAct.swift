package import PrefetchFileSystem
package import PrefetchStorageAreas
package import SystemPackage

/// What a check can do about a finding by itself.
package enum Remedy: Hashable, Sendable {
    /// To the same place in another area.
    case move(Area)
    /// Excludes from backups: a file, or the folder that stands for several.
    case exclude
    /// Includes in backups.
    case include
    /// Takes out of the container, to be deleted by the user.
    case discard
    case removeFolder
    /// Lets nobody but its owner into a folder.
    case restrict
    /// Puts a `CACHEDIR.TAG` into the folder of caches.
    case tag
}

/// One change to the files of an app, with all that is needed to undo it. Paths are absolute.
package enum FixAct: Hashable, Sendable {
    /// The inode tells whether the file is still the one that was moved.
    case move(FilePath, to: FilePath, inode: UInt64)
    case makeFolder(FilePath)
    case removeFolder(FilePath, FilePermissions)
    /// Marks a file or folder, or removes its marks, which were these.
    case mark(FilePath, BackupPolicy, before: Marks)
    /// Lets nobody but its owner into a folder, which had these permissions.
    case restrict(FilePath, FilePermissions)
    /// Puts a `CACHEDIR.TAG` into a folder.
    case tag(FilePath)

    /// The path that the change is about.
    package var path: FilePath {
        switch self {
        case .move(let path, _, _), .makeFolder(let path), .removeFolder(let path, _),
            .mark(let path, _, _), .restrict(let path, _), .tag(let path):
            path
        }
    }

    /// The marks of a file by which backup programs exclude it.
    package struct Marks: Hashable, Sendable {
        package var isNoDump: Bool
        /// The values of ``BackupMark/xdgAttribute`` and ``BackupMark/appleAttribute``.
        package var xdg: [UInt8]?
        package var apple: [UInt8]?

        static let none = Marks(isNoDump: false, xdg: nil, apple: nil)

        package init(isNoDump: Bool, xdg: [UInt8]?, apple: [UInt8]?) {
            self.isNoDump = isNoDump
            self.xdg = xdg
            self.apple = apple
        }

        init(of file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
            let mark = BackupMark(fileSystem: fileSystem)
            isNoDump = try mark.isNoDump(file)
            xdg = try mark.attribute(BackupMark.xdgAttribute, of: file)
            apple = try mark.attribute(BackupMark.appleAttribute, of: file)
        }

        /// Makes these the marks of a file. Changes nothing that is as it should be: not every file system has all.
        func set(on file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
            let now = try Marks(of: file, in: fileSystem)
            if now.isNoDump != isNoDump { try fileSystem.setNoDump(isNoDump, of: file) }
            if now.xdg != xdg {
                try fileSystem.setExtendedAttribute(BackupMark.xdgAttribute, to: xdg, of: file)
            }
            if now.apple != apple {
                try fileSystem.setExtendedAttribute(BackupMark.appleAttribute, to: apple, of: file)
            }
        }
    }
}

extension FixAct {
    /// Undoes the change, if it was made and nobody has changed anything there since.
    ///
    /// - Returns: Why it could not be undone, if so.
    /// - Throws: The error of a system call. Nothing has changed then.
    package func undo(in fileSystem: any FileSystem) throws(FileSystemError) -> String? {
        switch self {
        case .move(let path, let target, let inode):
            guard let moved = try fileSystem.attributes(of: target, in: .workingDirectory) else {
                let isThere =
                    try fileSystem.attributes(of: path, in: .workingDirectory)?.identity.inode == inode
                return isThere ? nil : "\(target.displayText) is gone"
            }
            guard moved.identity.inode == inode else { return "\(target.displayText) is another file now" }
            do {
                try fileSystem.rename(
                    target, in: .workingDirectory, to: path, in: .workingDirectory, .exclusive)
            } catch {
                guard error.errno == .fileExists else { throw error }
                return "there is a file in its place"
            }
        case .makeFolder(let path):
            do {
                try fileSystem.removeDirectory(path, in: .workingDirectory)
            } catch {
                guard !error.isNotFound else { break }
                guard error.errno == .directoryNotEmpty || error.errno == .fileExists else { throw error }
                return "something is in it now"
            }
        case .removeFolder(let path, let permissions):
            let isNew = try fileSystem.makeDirectory(path, in: .workingDirectory, permissions: permissions)
            guard isNew else { break }
            // Whatever the process's mask is.
            try fileSystem.withFile(path, in: .workingDirectory, .directory) {
                folder throws(FileSystemError) in
                try fileSystem.setPermissions(permissions, of: folder)
            }
        case .mark(let path, _, let before):
            do {
                try fileSystem.withFile(path, in: .workingDirectory, .read) { file throws(FileSystemError) in
                    try before.set(on: file, in: fileSystem)
                }
            } catch {
                guard error.isNotFound else { throw error }
                return "it is gone"
            }
        case .restrict(let path, let before):
            guard let now = try fileSystem.attributes(of: path, in: .workingDirectory)?.permissions else {
                return "it is gone"
            }
            if now == before { break }
            guard now == .ownerReadWriteExecute else { return "its permissions have changed" }
            try fileSystem.withFile(path, in: .workingDirectory, .directory) {
                folder throws(FileSystemError) in try fileSystem.setPermissions(before, of: folder)
            }
        case .tag(let path):
            do {
                try fileSystem.withFile(path, in: .workingDirectory, .directoryFollowingLinks) {
                    folder throws(FileSystemError) in
                    try CacheDirectoryTag.remove(from: folder, of: fileSystem)
                }
            } catch {
                guard error.isNotFound else { throw error }
            }
        }
        return nil
    }
}

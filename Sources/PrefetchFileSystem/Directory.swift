package import SystemPackage

/// A folder that stays open for the lifetime of this object.
package final class Directory: Sendable {
    /// The file system that the folder belongs to.
    package let fileSystem: any FileSystem
    /// The open folder, valid for the lifetime of this object.
    package let descriptor: Descriptor

    /// Takes ownership of an open descriptor.
    package init(_ descriptor: Descriptor, of fileSystem: any FileSystem) {
        self.fileSystem = fileSystem
        self.descriptor = descriptor
    }

    /// Opens the folder at a path named by the user or the platform; symbolic links are followed.
    package convenience init(at path: FilePath, in fileSystem: any FileSystem) throws(FileSystemError) {
        let path = path.isEmpty ? "." : path
        self.init(try fileSystem.open(path, in: .workingDirectory, .directoryFollowingLinks), of: fileSystem)
    }

    deinit {
        fileSystem.close(descriptor)
    }

    /// Opens the folder at a path named by the user or the platform, creating missing components durably: the content
    /// of a folder is only as durable as its name. Symbolic links in `path` are followed.
    package static func openOrCreate(
        _ path: FilePath, permissions: FilePermissions, in fileSystem: any FileSystem
    ) throws(FileSystemError) -> Directory {
        do {
            return try Directory(at: path, in: fileSystem)
        } catch {
            guard error.isNotFound, path.components.count > 0 else { throw error }
        }
        let parent = try openOrCreate(
            path.removingLastComponent(), permissions: permissions, in: fileSystem)
        if try fileSystem.makeDirectory(path, in: .workingDirectory, permissions: permissions) {
            try fileSystem.synchronize(parent.descriptor)
        }
        return try Directory(at: path, in: fileSystem)
    }

    /// Opens the folder at a path named by the user or the platform, or the nearest one above it that exists.
    package static func nearest(to path: FilePath, in fileSystem: any FileSystem) throws(FileSystemError)
        -> Directory
    {
        var path = path
        while true {
            do throws(FileSystemError) {
                return try Directory(at: path, in: fileSystem)
            } catch {
                guard error.isNotFound, path.removeLastComponent() else { throw error }
            }
        }
    }

    /// Opens the subfolder at a relative `path` one component at a time, without following symbolic links, creating
    /// missing components durably.
    ///
    /// - Parameter flushing: Whether to flush the names of existing components, too: the process that created them may
    ///   have died before flushing them.
    package func openOrCreate(_ path: FilePath, permissions: FilePermissions, flushing: Bool = false)
        throws(FileSystemError) -> Directory
    {
        var current = self
        for component in path.components {
            let name = FilePath(root: nil, [component])
            let isNew = try fileSystem.makeDirectory(
                name, in: current.descriptor, permissions: permissions)
            if isNew || flushing { try fileSystem.synchronize(current.descriptor) }
            current = Directory(
                try fileSystem.open(name, in: current.descriptor, .directory), of: fileSystem)
        }
        return current
    }

    /// Opens the subfolder at a relative `path` without following symbolic links, or returns `nil` if it does not
    /// exist.
    package func open(_ path: FilePath) throws(FileSystemError) -> Directory? {
        path.isEmpty ? self : try fileSystem.openFolder(path, in: descriptor)
    }

    /// Whether this is the folder that has a name now; `false` after it was removed, moved or replaced.
    ///
    /// The number of its links does not tell: some file systems keep it when a folder is removed.
    package func isNamed(_ name: FilePath, in parent: Descriptor) throws(FileSystemError) -> Bool {
        try fileSystem.attributes(of: name, in: parent)?.identity
            == fileSystem.attributes(of: descriptor).identity
    }
}

extension Directory {
    /// Whether this is one of some folders, or lies below one of them.
    package func isBelow(_ folders: Set<FileAttributes.Identity>) throws(FileSystemError) -> Bool {
        var current = self
        var last: FileAttributes.Identity?
        while true {
            let identity = try fileSystem.attributes(of: current.descriptor).identity
            if folders.contains(identity) { return true }
            // The root is its own parent.
            guard identity != last else { return false }
            last = identity
            do {
                current = Directory(
                    try fileSystem.open("..", in: current.descriptor, .directory), of: fileSystem)
            } catch {
                // Our own folders can be opened, so it is neither one of them nor below one.
                guard error.isNotPermitted else { throw error }
                return false
            }
        }
    }
}

/// - Returns: `nil` when there is nothing under a name, or nothing of the expected kind.
package func ifPresent<Value>(_ body: () throws(FileSystemError) -> Value) throws(FileSystemError) -> Value? {
    do {
        return try body()
    } catch {
        guard error.isNotFound || error.isNotRegularFile else { throw error }
        return nil
    }
}

extension FileSystem {
    /// Removes a file.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package func unlinkIfPresent(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) -> Bool {
        try ifPresent { () throws(FileSystemError) in
            try unlink(name, in: directory)
            return true
        } ?? false
    }

    /// Opens the folder at a relative `path` of at least one component below an open one, without following symbolic
    /// links, or returns `nil` if it does not exist.
    package func openFolder(_ path: FilePath, in directory: Descriptor) throws(FileSystemError) -> Directory?
    {
        do throws(FileSystemError) {
            // Most paths have one component.
            guard path.string.utf8.contains(UInt8(ascii: "/")) else {
                return Directory(try open(path, in: directory, .directory), of: self)
            }
            var current: Directory?
            for component in path.components {
                let name = FilePath(root: nil, [component])
                current = Directory(
                    try open(name, in: current?.descriptor ?? directory, .directory), of: self)
            }
            return current
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }
}

/// An open file or folder of a ``FileSystem``. It has no methods, so that no call can bypass the protocol.
package struct Descriptor: RawRepresentable, Hashable, Sendable {
    /// The number of the file descriptor.
    package let rawValue: CInt

    /// Wraps an open file descriptor without taking ownership of it.
    package init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// The working directory of the process (`AT_FDCWD`), for paths given by the user.
    package static let workingDirectory = Descriptor(rawValue: Platform.workingDirectory)
}

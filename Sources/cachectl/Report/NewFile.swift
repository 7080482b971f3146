internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

/// Writes a file atomically. If it replaces another file, it keeps that file's owner, group and permissions.
struct NewFile {
    private let path: FilePath
    private let replaces: Bool
    private let fileSystem: any FileSystem

    /// - Parameter replaces: Whether to replace an existing regular file.
    init(_ path: FilePath, replacing replaces: Bool, in fileSystem: any FileSystem = LiveFileSystem()) {
        self.path = path
        self.replaces = replaces
        self.fileSystem = fileSystem
    }

    /// Checks whether ``write(_:)`` can succeed, before any work is done.
    func check() throws(CommandFailure) {
        guard let name = path.lastComponent, name.kind == .regular else {
            throw CommandFailure(
                .usage, "\(path.displayText) does not name a file; use - for standard output")
        }
        let found: FileAttributes?
        do throws(FileSystemError) {
            let folder = try folder()
            defer { withExtendedLifetime(folder) {} }
            found = try fileSystem.attributes(of: FilePath(root: nil, [name]), in: folder.descriptor)
        } catch {
            throw failure(error)
        }
        if let found { try refuse(found.kind) }
    }

    private func refuse(_ kind: FileAttributes.Kind) throws(CommandFailure) {
        guard kind == .regular else {
            throw CommandFailure(
                .cannotCreate,
                "\(path.displayText) is not a regular file and is not replaced; use - for standard output")
        }
        guard replaces else {
            throw CommandFailure(.cannotCreate, "\(path.displayText) exists; --force replaces it")
        }
    }

    func write(_ text: String) throws(CommandFailure) {
        try check()
        do throws(FileSystemError) {
            try publish(Array(text.utf8))
        } catch {
            if error.errno == .fileExists { try refuse(.regular) }
            throw failure(error)
        }
    }

    private func publish(_ bytes: [UInt8]) throws(FileSystemError) {
        let folder = try folder()
        defer { withExtendedLifetime(folder) {} }
        let name = FilePath(root: nil, path.components.suffix(1))
        let replaced = replaces ? try fileSystem.attributes(of: name, in: folder.descriptor) : nil
        // Hidden, and unique to this process.
        let draft = FilePath(".cachectl-\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp")
        let file = try fileSystem.open(
            draft, in: folder.descriptor,
            .createNew(replaced == nil ? [.ownerReadWrite, .groupRead, .otherRead] : .ownerReadWrite))
        do throws(FileSystemError) {
            defer { fileSystem.close(file) }
            try fileSystem.writeAll(bytes, to: file, at: 0)
            if let replaced {
                try fileSystem.setOwner(replaced.owner, group: replaced.group, of: file)
                try fileSystem.setPermissions(replaced.permissions, of: file)
            }
            try fileSystem.synchronize(file)
            try fileSystem.rename(
                draft, in: folder.descriptor, to: name, in: folder.descriptor,
                replaces ? .replacing : .exclusive)
        } catch {
            do throws(FileSystemError) {
                try fileSystem.unlink(draft, in: folder.descriptor)
            } catch {
                // The original error is more informative.
            }
            throw error
        }
    }

    private func folder() throws(FileSystemError) -> Directory {
        let parent = path.removingLastComponent()
        let descriptor = try fileSystem.open(
            parent.isEmpty ? "." : parent, in: .workingDirectory, .directoryFollowingLinks)
        return Directory(descriptor, of: fileSystem)
    }

    private func failure(_ error: FileSystemError) -> CommandFailure {
        CommandFailure(
            error.isNotPermitted ? .notPermitted : error.isOutOfSpace ? .inputOutput : .cannotCreate,
            "cannot write \(path.displayText): \(error.errno)" + CommandFailure.advice(on: .fileSystem(error))
        )
    }
}

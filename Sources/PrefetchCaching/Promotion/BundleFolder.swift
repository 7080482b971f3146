internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// The folder of a bundle, in staging or under its name. The content of its parts, one after the other, is that of the
/// item.
///
/// Symbolic links are not followed: the user may have put one in the place of a folder.
struct BundleFolder {
    let folder: Descriptor
    let parts: [BundlePart]
    private let fileSystem: any FileSystem
    /// Keeps the descriptor open, unless that is up to somebody else.
    private let owner: Directory?

    /// - Returns: `nil` when there is no folder of that name, or it is that of a single file.
    init?(_ name: FilePath, in parent: Directory, _ parts: [BundlePart]) throws(FileSystemError) {
        guard !parts.isEmpty,
            let folder = try ifPresent({ () throws(FileSystemError) in try parent.open(name) }) ?? nil
        else { return nil }
        (self.folder, self.parts, fileSystem, owner) = (folder.descriptor, parts, folder.fileSystem, folder)
    }

    /// - Parameter folder: Stays open as long as this exists.
    init(_ folder: Descriptor, _ parts: [BundlePart], _ fileSystem: any FileSystem) {
        (self.folder, self.parts, self.fileSystem, owner) = (folder, parts, fileSystem, nil)
    }

    /// Opens one of the folders in it, and hands it to `body`.
    ///
    /// - Returns: `nil` when there is none.
    private func withFolder<Value>(
        _ path: FilePath, _ body: (Descriptor) throws(FileSystemError) -> Value
    ) throws(FileSystemError) -> Value? {
        try ifPresent { () throws(FileSystemError) in
            if path.isEmpty { return try body(folder) }
            guard let inner = try fileSystem.openFolder(path, in: folder) else { return nil }
            return try body(inner.descriptor)
        } ?? nil
    }

    // MARK: Content

    /// Hands the content to `body`, piece by piece and in order.
    ///
    /// - Returns: `false` when a part is missing or has another length.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws(FileSystemError) -> Void)
        throws(FileSystemError) -> Bool
    {
        try forEachFile { file, part throws(FileSystemError) in
            guard try fileSystem.attributes(of: file).length == part.contentBytes else { return false }
            try fileSystem.forEachPiece(of: file, count: part.contentBytes) {
                piece, _ throws(FileSystemError) in
                try body(piece)
            }
            return true
        }
    }

    /// The checksum of the content; `nil` when a part is missing or has another length.
    func contentChecksum() throws(FileSystemError) -> UInt64? {
        var checksum = ContentChecksum()
        return try forEachPiece { checksum.update($0) } ? checksum.finalize() : nil
    }

    /// Reads a range of the content.
    ///
    /// - Parameter isSound: Whether a part that was read may be used.
    /// - Returns: `false` when one of the parts in the range is missing, has another length, or may not be used.
    func read(
        _ range: Range<Int64>, into buffer: UnsafeMutableRawBufferPointer,
        if isSound: (FileAttributes, BundlePart) -> Bool = { _, _ in true }
    ) throws(FileSystemError) -> Bool {
        var start: Int64 = 0
        var done = 0
        return try forEachPart { part, parent, name throws(FileSystemError) in
            let wanted = range.clamped(to: start..<start + part.contentBytes)
            defer { start += part.contentBytes }
            guard !wanted.isEmpty else { return true }
            let count = Int(wanted.upperBound - wanted.lowerBound)
            defer { done += count }
            return try fileSystem.withFile(name, in: parent, .read) { file throws(FileSystemError) in
                guard try fileSystem.attributes(of: file).length == part.contentBytes else { return false }
                let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
                guard try fileSystem.readAll(file, into: target, at: wanted.lowerBound - start) == count
                else { return false }
                return isSound(try fileSystem.attributes(of: file), part)
            }
        }
    }

    // MARK: Files

    /// Hands every open part to `body`, until it returns `false`.
    ///
    /// - Returns: `false` also when a part is missing.
    func forEachFile(_ body: (Descriptor, BundlePart) throws(FileSystemError) -> Bool)
        throws(FileSystemError) -> Bool
    {
        try forEachPart { part, parent, name throws(FileSystemError) in
            try fileSystem.withFile(name, in: parent, .readWithoutAccessTime) {
                file throws(FileSystemError) in try body(file, part)
            }
        }
    }

    /// Hands every part to `body`, with its folder and its name there, until it returns `false`.
    private func forEachPart(_ body: (BundlePart, Descriptor, FilePath) throws(FileSystemError) -> Bool)
        throws(FileSystemError) -> Bool
    {
        try ifPresent { () throws(FileSystemError) in
            // Neighbours are mostly in one folder.
            var last: (path: FilePath, folder: Directory)?
            for part in parts {
                let path = part.path.path.removingLastComponent()
                if path.isEmpty {
                    last = nil
                } else if path != last?.path {
                    guard let parent = try fileSystem.openFolder(path, in: folder) else { return false }
                    last = (path, parent)
                }
                guard try body(part, last?.folder.descriptor ?? folder, part.name) else { return false }
            }
            return true
        } ?? false
    }

    /// The attributes of everything in the folder that decides whether the user has changed it; `nil` if a part is missing,
    /// or there is anything else.
    func photograph() throws(FileSystemError) -> [FileAttributes]? {
        var attributes: [FileAttributes] = []
        // By their bytes: names that differ only in their normalization are two files.
        var expected: [FilePath: Set<FilePath.Component>] = [:]
        for path in parts.map(\.path.path) + parts.folders.map(\.path) {
            guard let name = path.lastComponent else { continue }
            expected[path.removingLastComponent(), default: []].insert(name)
        }
        for (path, names) in expected {
            let present = try withFolder(path) { inner throws(FileSystemError) in
                try Set(fileSystem.entries(of: inner).map(\.name))
            }
            guard present == names else { return nil }
        }
        let areAllThere = try forEachFile { file, _ throws(FileSystemError) in
            attributes.append(try fileSystem.attributes(of: file))
            return attributes.last?.kind == .regular
        }
        return areAllThere ? attributes : nil
    }

    /// Flushes every file, and then the folders, the inner ones first.
    func flush(by flush: (Descriptor) throws(FileSystemError) -> Void) throws(FileSystemError) {
        let areAllThere = try forEachFile { file, _ throws(FileSystemError) in
            try flush(file)
            return true
        }
        guard areAllThere else { throw FileSystemError("fsync", errno: .noSuchFileOrDirectory) }
        for path in parts.folders.reversed() { _ = try withFolder(path.path, flush) }
        try flush(folder)
    }

    /// Removes the parts, and the folders that are empty then. Whatever else is in them is the user's and stays.
    func removeParts() throws(FileSystemError) {
        for part in parts {
            _ = try withFolder(part.path.path.removingLastComponent()) { parent throws(FileSystemError) in
                try fileSystem.unlink(part.name, in: parent)
            }
        }
        for path in parts.folders.reversed() {
            _ = try withFolder(path.path.removingLastComponent()) { parent throws(FileSystemError) in
                try fileSystem.removeIfEmpty(path.path.lastName, in: parent)
            }
        }
    }
}

extension BundlePart {
    /// The name of the file in its folder.
    var name: FilePath { path.path.lastName }
}

extension FilePath {
    fileprivate var lastName: FilePath { lastComponent.map { FilePath(root: nil, [$0]) } ?? FilePath() }
}

extension FileSystem {
    /// Removes a folder, unless there is something in it.
    func removeIfEmpty(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        do {
            try removeDirectory(name, in: directory)
        } catch {
            guard error.errno == .directoryNotEmpty || error.errno == .fileExists else { throw error }
        }
    }

    /// Makes it durable that something was moved. After a power cut, a folder may have both names, and is left with either of
    /// them: so first that it has the new one, and then that it has lost the old one.
    func synchronizeMove(from source: Directory, to target: Directory) throws(FileSystemError) {
        try synchronize(target.descriptor)
        try synchronize(source.descriptor)
    }

    /// Removes something staged: a file, or the folder of a bundle.
    func removeStaged(_ name: FilePath, in staging: Descriptor) throws(FileSystemError) {
        do {
            try unlink(name, in: staging)
        } catch {
            // `EISDIR`, or `EPERM` on Darwin.
            guard error.errno == .isDirectory || error.errno == .notPermitted,
                try attributes(of: name, in: staging)?.kind == .directory
            else { throw error }
            try removeTree(name, in: staging)
        }
    }

    /// Removes a folder of ours with all that is in it. Links are removed, not followed.
    func removeTree(_ name: FilePath, in directory: Descriptor) throws(FileSystemError) {
        guard let folder = try openFolder(name, in: directory) else { return }
        for entry in try entries(of: folder.descriptor) {
            let inner = FilePath(root: nil, [entry.name])
            if try attributes(of: inner, in: folder.descriptor)?.kind == .directory {
                try removeTree(inner, in: folder.descriptor)
            } else {
                try unlink(inner, in: folder.descriptor)
            }
        }
        try removeDirectory(name, in: directory)
    }
}

package import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
package import SystemPackage

/// The files of a folder of the user's that becomes a bundle, in the order of their paths.
package struct BundleSource {
    let parts: [BundlePart]
    private let top: Directory
    /// As they were when they were listed.
    private let attributes: [FolderPath: FileAttributes]

    /// - Throws: ``CacheError/fileSystem(_:)`` when there is no folder or it cannot be read,
    ///   ``CacheError/notARegularFile(_:)`` for anything in it but files and folders, ``CacheError/unsuitableName(_:_:)``, and
    ///   ``CacheError/item(_:)`` when there are no files.
    package init(_ path: FilePath, in fileSystem: any FileSystem = LiveFileSystem()) throws(CacheError) {
        top = try onFiles(Directory(at: path, in: fileSystem))
        var parts: [BundlePart] = []
        var attributes: [FolderPath: FileAttributes] = [:]
        var failure: CacheError?
        try FolderWalk(top: top, isSkipped: { _ in false }).run { entry throws(CacheError) in
            guard entry.attributes.kind == .regular else {
                throw .notARegularFile(path.pushing(entry.path).string)
            }
            do throws(FolderPathError) {
                let inside = try FolderPath(entry.path.string)
                parts.append(
                    BundlePart(
                        inside, contentBytes: entry.attributes.length,
                        isExecutable: entry.attributes.permissions.contains(.ownerExecute)))
                attributes[inside] = entry.attributes
            } catch {
                throw .unsuitableName(path.pushing(entry.path).string, error)
            }
        } unreadable: { _, error in
            failure = failure ?? error
        }
        if let failure { throw failure }
        guard !parts.isEmpty else { throw .item(.bundle(.noFiles)) }
        self.attributes = attributes
        self.parts = parts.sorted { $0.path.string < $1.path.string }
    }

    /// Fills a buffer with the content of the files from an offset on.
    ///
    /// - Returns: `false` when one of them was changed or replaced since it was listed, or is gone.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Bool {
        try BundleFolder(top.descriptor, parts, top.fileSystem)
            .read(offset..<offset + Int64(buffer.count), into: buffer) { now, part in
                attributes[part.path].map(now.isUnchanged) ?? false
            }
    }
}

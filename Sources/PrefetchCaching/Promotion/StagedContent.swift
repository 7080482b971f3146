internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// A new file in staging or, for a bundle, a new folder of files. It is written from its beginning to its end.
///
/// Used by one thread at a time.
final class StagedContent {
    /// Open as long as this exists: of the file or the folder, whose identity and marks are those of the promotion.
    let descriptor: Descriptor
    /// `nil` for a single file.
    private let bundle: BundleFolder?
    private let fileSystem: any FileSystem
    private let area: Area
    private var written: Int64 = 0
    /// The part that is written, and how much of it was.
    private var index = 0
    private var part: (file: Descriptor, written: Int64)?

    /// - Parameter area: The one that it is for. Nobody else can reach what is in staging, whatever its permissions.
    init(
        creating name: FilePath, of parts: [BundlePart], for area: Area, in staging: Directory
    ) throws(FileSystemError) {
        fileSystem = staging.fileSystem
        self.area = area
        guard !parts.isEmpty else {
            bundle = nil
            descriptor = try fileSystem.open(
                name, in: staging.descriptor, .createNew(CacheLayout.filePermissions(in: area)))
            return
        }
        let mode = CacheLayout.folderPermissions(in: area)
        guard try fileSystem.makeDirectory(name, in: staging.descriptor, permissions: mode) else {
            throw FileSystemError("mkdir", path: name, errno: .fileExists)
        }
        descriptor = try fileSystem.open(name, in: staging.descriptor, .directory)
        bundle = BundleFolder(descriptor, parts, fileSystem)
        for inner in parts.folders {
            _ = try fileSystem.makeDirectory(inner.path, in: descriptor, permissions: mode)
        }
    }

    deinit {
        if let part { fileSystem.close(part.file) }
        fileSystem.close(descriptor)
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError) {
        guard let bundle else {
            try fileSystem.writeAll(bytes, to: descriptor, at: written)
            written += Int64(bytes.count)
            return
        }
        var rest = bytes
        while rest.count > 0 {
            guard index < bundle.parts.count else { throw FileSystemError("write", errno: .fileTooLarge) }
            let length = bundle.parts[index].contentBytes
            let part = try openPart(in: bundle)
            let count = Int(min(Int64(rest.count), length - part.written))
            try fileSystem.writeAll(rest.slice(0..<count), to: part.file, at: part.written)
            self.part = (part.file, part.written + Int64(count))
            if part.written + Int64(count) == length { endPart() }
            rest = rest.slice(count..<rest.count)
        }
    }

    private func openPart(in bundle: BundleFolder) throws(FileSystemError) -> (
        file: Descriptor, written: Int64
    ) {
        if let part { return part }
        let next = bundle.parts[index]
        let opened = try fileSystem.open(next.path.path, in: descriptor, creating(next))
        part = (opened, 0)
        return (opened, 0)
    }

    private func creating(_ part: BundlePart) -> OpenMode {
        .createNew(CacheLayout.filePermissions(in: area, isExecutable: part.isExecutable))
    }

    private func endPart() {
        if let part { fileSystem.close(part.file) }
        part = nil
        index += 1
    }

    /// Writes one part of a bundle from a range of a file, and flushes it. Parts may be written in any order, but not beside
    /// ``append(_:)``.
    func write(part number: Int, from file: Descriptor, at start: Int64) throws(FileSystemError) {
        guard let part = bundle?.parts[number] else { return }
        index = bundle?.parts.count ?? 0
        try fileSystem.withFile(part.path.path, in: descriptor, creating(part)) {
            target throws(FileSystemError) in
            try fileSystem.forEachPiece(of: file, from: start, count: part.contentBytes) {
                piece, offset throws(FileSystemError) in
                try fileSystem.writeAll(piece, to: target, at: offset - start)
            }
            try fileSystem.synchronize(target)
        }
    }

    /// Has the system begin to write a single file.
    func startWriting() {
        if bundle == nil { fileSystem.startWriting(descriptor) }
    }

    /// Flushes what was written: the file, or all files and folders of a bundle.
    func flush(by flush: (Descriptor) throws(FileSystemError) -> Void) throws(FileSystemError) {
        guard let bundle else { return try flush(descriptor) }
        // Empty files at the end.
        while index < bundle.parts.count {
            _ = try openPart(in: bundle)
            endPart()
        }
        try bundle.flush(by: flush)
    }
}

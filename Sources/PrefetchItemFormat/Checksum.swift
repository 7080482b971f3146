package import PrefetchFileSystem

/// XXH3-64, the checksum of footers, chunks and content. It detects accidental damage, not tampering.
package enum Checksum {
    /// The checksum of `bytes`.
    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        XXHash.xxh3(bytes)
    }

    /// The checksum of a part of a file, which need not fit into memory.
    static func of(
        _ range: Range<Int64>, in file: Descriptor, of fileSystem: any FileSystem
    ) throws(FileSystemError) -> UInt64 {
        var stream = try XXH3Stream()
        try fileSystem.forEachPiece(
            of: file, from: range.lowerBound, count: range.upperBound - range.lowerBound
        ) {
            piece, _ in
            stream.append(piece)
        }
        return stream.finish()
    }

    /// The value that identifies a boot session in a footer.
    ///
    /// - Parameter identifier: The identifier of the boot session; empty if unknown.
    /// - Returns: `nil` if the identifier is empty.
    package static func ofBoot(_ identifier: String) -> UInt64? {
        identifier.isEmpty ? nil : Array(identifier.utf8).withUnsafeBytes { of($0) }
    }

    /// The checksum of the whole content: the checksum of its chunks' checksums, in order and little-endian, so that
    /// chunks can be verified in any order and in parallel.
    static func ofContent(chunks: [Chunk]) -> UInt64 {
        var writer = ByteWriter(capacity: chunks.count * 8)
        for chunk in chunks { writer.append(chunk.checksum) }
        return writer.bytes.withUnsafeBytes { of($0) }
    }
}

/// Computes a content checksum incrementally, for example to compare a promoted file with its ledger entry.
package struct ContentChecksum {
    /// The whole chunks so far, as they would be stored without an encoding.
    package private(set) var chunks: [Chunk]
    private var pending: [UInt8] = []

    /// - Parameter chunks: The whole chunks of the content so far.
    package init(after chunks: [Chunk] = []) {
        self.chunks = chunks
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        if !pending.isEmpty {
            let count = min(rest.count, ItemLimits.chunkBytes - pending.count)
            pending.append(contentsOf: rest.prefix(count))
            rest = rest.dropFirst(count)
            guard pending.count == ItemLimits.chunkBytes else { return }
            pending.withUnsafeBytes { append($0) }
            pending.removeAll(keepingCapacity: true)
        }
        while rest.count >= ItemLimits.chunkBytes {
            append(UnsafeRawBufferPointer(rebasing: rest.prefix(ItemLimits.chunkBytes)))
            rest = rest.dropFirst(ItemLimits.chunkBytes)
        }
        pending.append(contentsOf: rest)
    }

    package mutating func finalize() -> UInt64 {
        if !pending.isEmpty { pending.withUnsafeBytes { append($0) } }
        pending = []
        return Checksum.ofContent(chunks: chunks)
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        chunks.append(Chunk(storedBytes: UInt32(bytes.count), checksum: Checksum.of(bytes)))
    }
}

extension FileSystem {
    /// Reads a file and returns its content checksum, which equals that of an item with the same content.
    ///
    /// - Parameter count: The number of bytes to read from its beginning; all by default.
    package func contentChecksum(of file: Descriptor, count: Int64 = .max) throws(FileSystemError) -> UInt64 {
        var checksum = ContentChecksum()
        try forEachPiece(of: file, count: count) { piece, _ in checksum.update(piece) }
        return checksum.finalize()
    }
}

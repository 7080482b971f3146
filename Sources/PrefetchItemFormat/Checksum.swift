package import PrefetchFileSystem

#if PREFETCHCACHE_PORTABLE
    internal import CPrefetchChecksum
#else
    internal import CPrefetchXXHash
#endif

/// The hashes of the item format, with the seed 0: from libxxhash on Linux, and from this package's own implementation on
/// Apple platforms. Both return the same for the same bytes. They detect accidental damage, not tampering.
package enum Checksum {
    /// XXH3-64, the checksum of footers, chunks and content.
    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        #if PREFETCHCACHE_PORTABLE
            cchecksum_xxh3_64(bytes.baseAddress, bytes.count)
        #else
            XXH3_64bits(bytes.baseAddress, bytes.count)
        #endif
    }

    /// XXH32, which a frame of LZ4 has.
    static func xxh32(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        #if PREFETCHCACHE_PORTABLE
            cchecksum_xxh32(bytes.baseAddress, bytes.count)
        #else
            XXH32(bytes.baseAddress, bytes.count, 0)
        #endif
    }

    /// XXH3-128, which names the file of a key.
    static func xxh128(_ bytes: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64) {
        #if PREFETCHCACHE_PORTABLE
            let hash = cchecksum_xxh3_128(bytes.baseAddress, bytes.count)
            return (hash.high, hash.low)
        #else
            let hash = XXH3_128bits(bytes.baseAddress, bytes.count)
            return (hash.high64, hash.low64)
        #endif
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

internal import CPrefetchXXHash
package import PrefetchFileSystem

/// XXH3-64, the checksum of footers, chunks and contents. It detects accidents, not attacks.
package enum Checksum {
    /// The checksum of `bytes`.
    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        XXH3_64bits(bytes.baseAddress, bytes.count)
    }

    /// The number that stands for a boot of the machine in a footer.
    ///
    /// - Parameter identifier: The boot's identifier; empty if unknown.
    /// - Returns: `nil` if the boot is unknown.
    package static func ofBoot(_ identifier: String) -> UInt64? {
        identifier.isEmpty ? nil : Array(identifier.utf8).withUnsafeBytes { of($0) }
    }

    /// The checksum of a whole content: that of the checksums of its chunks in order (as
    /// little-endian words), so that chunks can be checked in any order and in parallel.
    static func ofContent(chunks: [Chunk]) -> UInt64 {
        var writer = ByteWriter(capacity: chunks.count * 8)
        for chunk in chunks { writer.append(chunk.checksum) }
        return writer.bytes.withUnsafeBytes { of($0) }
    }
}

/// Computes the content checksum of bytes that arrive piece by piece, such as a promoted file that
/// is compared with its ledger entry.
package struct ContentChecksum {
    private var chunks: [Chunk] = []
    private var pending: [UInt8] = []

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        if !pending.isEmpty {
            let count = min(rest.count, ItemLimits.chunkLength - pending.count)
            pending.append(contentsOf: rest.prefix(count))
            rest = rest.dropFirst(count)
            guard pending.count == ItemLimits.chunkLength else { return }
            pending.withUnsafeBytes { append($0) }
            pending.removeAll(keepingCapacity: true)
        }
        while rest.count >= ItemLimits.chunkLength {
            append(UnsafeRawBufferPointer(rebasing: rest.prefix(ItemLimits.chunkLength)))
            rest = rest.dropFirst(ItemLimits.chunkLength)
        }
        pending.append(contentsOf: rest)
    }

    package mutating func finalize() -> UInt64 {
        if !pending.isEmpty { pending.withUnsafeBytes { append($0) } }
        pending = []
        return Checksum.ofContent(chunks: chunks)
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        chunks.append(Chunk(storedLength: 0, checksum: Checksum.of(bytes)))
    }
}

extension FileSystem {
    /// Reads a file and returns its content checksum, as that of an item with the same content.
    ///
    /// - Parameter count: The number of bytes to read from its beginning; all by default.
    package func contentChecksum(of file: Descriptor, count: Int64 = .max) throws(FileSystemError) -> UInt64 {
        var checksum = ContentChecksum()
        try forEachPiece(of: file, count: count) { piece, _ in checksum.update(piece) }
        return checksum.finalize()
    }
}

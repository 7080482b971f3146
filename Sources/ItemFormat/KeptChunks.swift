package import FileSystem

/// The whole chunks at the beginning of a file, after which an ``ItemWriter`` resumes.
package struct KeptChunks: Sendable {
    package let encoding: ItemEncoding
    package let chunks: [Chunk]

    package init(_ journal: PartialJournal) {
        encoding = journal.encoding
        chunks = journal.chunks
    }

    /// Reads and verifies the chunks, one at a time, and passes their content to `sink` in order.
    ///
    /// - Returns: The number of sound chunks before the first that is not.
    /// - Throws: ``ItemFormatError/fileSystem(_:)``.
    package func verify(
        in file: Descriptor, of fileSystem: any FileSystem, codecs: CodecPool,
        handing sink: (UnsafeRawBufferPointer) -> Void
    ) throws(ItemFormatError) -> Int {
        let loan = CodecLoan(from: codecs)
        var offset: Int64 = 0
        for (index, chunk) in chunks.enumerated() {
            let length = Int(chunk.storedLength)
            let stored = loan.codec.input(atLeast: length).slice(0..<length)
            let count = try onFiles { () throws(FileSystemError) in
                try fileSystem.readAll(file, into: stored, at: offset)
            }
            guard count == length,
                let content = content(of: UnsafeRawBufferPointer(stored), with: loan.codec),
                Checksum.of(content) == chunk.checksum
            else { return index }
            sink(content)
            offset += Int64(length)
        }
        return chunks.count
    }

    private func content(of stored: UnsafeRawBufferPointer, with codec: Codec) -> UnsafeRawBufferPointer? {
        guard encoding == .lz4 else { return stored }
        let output = codec.output(atLeast: ItemLimits.chunkLength).slice(0..<ItemLimits.chunkLength)
        return codec.decompressor.decompress(stored, into: output) ? UnsafeRawBufferPointer(output) : nil
    }
}

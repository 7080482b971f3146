package import PrefetchFileSystem

/// The journal of a partial, an item whose store is in progress or was interrupted. It describes the item and each
/// complete chunk.
///
/// The journal is not flushed to the device. Chunks are verified against its records before they are used, and the
/// checksum of a record covers the journal's generation and the record's index.
package struct PartialJournal: Hashable, Sendable {
    /// The journal version written by this code.
    package static let version: UInt16 = 1

    static let magic: UInt64 = 0x5065_6863_6143_6650
    static let fixedLength = 56
    static let recordLength = 24
    /// The maximum length, in bytes, of the description, which is the footer of an item without chunks.
    private static let descriptionLimit = 256 << 10

    package let metadata: ItemMetadata
    package let encoding: ItemEncoding
    /// The length of the whole content in bytes; `nil` if unknown.
    package let expectedLength: Int64?
    /// Distinguishes this partial from all other partials of the same item.
    package let generation: UInt64
    /// The complete chunks, in order.
    package private(set) var chunks: [Chunk] = []

    package init(
        metadata: ItemMetadata, encoding: ItemEncoding, expectedLength: Int64?, generation: UInt64,
        chunks: [Chunk] = []
    ) {
        self.chunks = chunks
        self.metadata = metadata
        self.encoding = encoding
        self.expectedLength = expectedLength
        self.generation = generation
    }

    /// Bytes of content in the complete chunks.
    package var contentBytes: Int64 { Int64(chunks.count) * Int64(ItemLimits.chunkBytes) }

    /// The length of the complete chunks in their file, in bytes.
    package var storedBytes: Int64 { chunks.reduce(0) { $0 + Int64($1.storedBytes) } }

    /// The length of the journal file in bytes.
    package var length: Int64 { Self.length(metadata: metadata, chunkCount: chunks.count) }

    /// The length of a journal with `chunkCount` records, in bytes.
    package static func length(metadata: ItemMetadata, chunkCount: Int) -> Int64 {
        Int64(fixedLength + ItemFooter.length(metadata: metadata, chunkCount: 0))
            + Int64(chunkCount) * Int64(recordLength)
    }

    /// The length of a complete item's journal, in bytes.
    package static func length(metadata: ItemMetadata, contentBytes: Int64) -> Int64 {
        length(metadata: metadata, chunkCount: ItemFooter.chunkCount(contentBytes: contentBytes))
    }

    /// Drops the chunks that extend beyond the first `length` bytes of their file.
    package mutating func cut(toStoredLength length: Int64) {
        var end: Int64 = 0
        let whole = chunks.prefix { chunk in
            end += Int64(chunk.storedBytes)
            return end <= length
        }
        cut(to: whole.count)
    }

    /// Drops all but the first `count` chunks.
    package mutating func cut(to count: Int) {
        chunks.removeLast(chunks.count - count)
    }
}

/// The first 28 bytes of a journal, which are the same in every version.
package struct PartialHead: Hashable, Sendable {
    static let length = 28

    /// The session of the process that is writing the partial; 0 if none is.
    package var writer: UInt64
    /// When the partial was last begun, resumed or suspended, in milliseconds since 1970.
    package var keptAt: Int64
    package let version: UInt16

    /// - Returns: `nil` for a file that is not a journal.
    package init?(of file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        let bytes = try fileSystem.presentBytes(of: file, at: 0, count: Self.length)
        guard let head = bytes.withUnsafeBytes(PartialHead.init) else { return nil }
        self = head
    }

    private init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes, of: .journal)
        do {
            guard try reader.take(UInt64.self) == PartialJournal.magic else { return nil }
            writer = try reader.take()
            keptAt = try reader.take()
            version = try reader.take()
        } catch {
            return nil
        }
    }

    /// Updates the writer and the time in a journal.
    package static func write(
        writer session: UInt64, keptAt: Int64, to file: Descriptor, in fileSystem: any FileSystem
    ) throws(FileSystemError) {
        var writer = ByteWriter(capacity: 16)
        writer.append(session)
        writer.append(keptAt)
        try fileSystem.writeAll(writer.bytes, to: file, at: 8)
    }
}

extension PartialJournal {
    /// Writes a journal without records to an empty file.
    package func begin(
        _ file: Descriptor, in fileSystem: any FileSystem, writer session: UInt64, keptAt: Int64
    ) throws(FileSystemError) {
        let description = ItemFooter.encode(
            metadata: metadata, encoding: encoding, contentBytes: 0, chunks: [], chunksLength: 0)
        var fixed = ByteWriter(capacity: Self.fixedLength)
        fixed.append(Self.version)
        fixed.append(UInt16(0))
        fixed.append(UInt32(description.count))
        fixed.append(generation)
        fixed.append(expectedLength ?? -1)
        let checksum = fixed.bytes.withUnsafeBytes { Checksum.of($0) }

        var writer = ByteWriter(capacity: Self.fixedLength + description.count)
        writer.append(Self.magic)
        writer.append(session)
        writer.append(keptAt)
        writer.append(bytes: fixed.bytes)
        writer.append(checksum)
        writer.append(bytes: description)
        try fileSystem.writeAll(writer.bytes, to: file, at: 0)
    }

    /// Appends the records of chunks that have been written.
    package mutating func append(
        _ new: ArraySlice<Chunk>, to file: Descriptor, in fileSystem: any FileSystem
    ) throws(FileSystemError) {
        var writer = ByteWriter(capacity: new.count * Self.recordLength)
        for (position, chunk) in new.enumerated() {
            let index = UInt32(chunks.count + position)
            writer.append(index)
            writer.append(chunk.storedBytes)
            writer.append(chunk.checksum)
            writer.append(Self.checksum(ofRecord: index, chunk, generation))
        }
        try fileSystem.writeAll(writer.bytes, to: file, at: length)
        chunks += new
    }

    private static func checksum(ofRecord index: UInt32, _ chunk: Chunk, _ generation: UInt64) -> UInt64 {
        var writer = ByteWriter(capacity: recordLength)
        writer.append(generation)
        writer.append(index)
        writer.append(chunk.storedBytes)
        writer.append(chunk.checksum)
        return writer.bytes.withUnsafeBytes { Checksum.of($0) }
    }

    /// Reads a journal with its records up to the first invalid one.
    ///
    /// - Throws: ``ItemFormatError/damaged(_:)``, ``ItemFormatError/newerVersion(_:)`` or
    ///   ``ItemFormatError/fileSystem(_:)``.
    package init(of file: Descriptor, in fileSystem: any FileSystem) throws(ItemFormatError) {
        let head = try onFiles(PartialHead(of: file, in: fileSystem))
        guard let head else { throw .damaged(.journal) }
        guard head.version <= Self.version else { throw .newerVersion(head.version) }
        let fixed = try onFiles(fileSystem.presentBytes(of: file, at: 24, count: Self.fixedLength - 24))
        guard head.version == Self.version else { throw .damaged(.journal) }
        let fields = try fixed.withBytes { bytes throws(ItemFormatError) in
            var reader = ByteReader(bytes, of: .journal)
            // Version and padding.
            _ = try reader.take(UInt32.self)
            let fields = (
                descriptionLength: try reader.take(UInt32.self), generation: try reader.take(UInt64.self),
                expectedLength: try reader.take(Int64.self)
            )
            guard try reader.take() == Checksum.of(bytes.slice(0..<bytes.count - 8)) else {
                throw ItemFormatError.damaged(.journal)
            }
            return fields
        }
        guard fields.descriptionLength <= Self.descriptionLimit else { throw .damaged(.journal) }
        let description = try onFiles(
            fileSystem.presentBytes(
                of: file, at: Int64(Self.fixedLength), count: Int(fields.descriptionLength)))
        let footer = try description.withBytes { bytes throws(ItemFormatError) in
            try ItemFooter(description: bytes)
        }
        // The offset of the records assumes that the description has the length that this code writes. An equivalent
        // description with unknown fields would be longer.
        guard ItemFooter.length(metadata: footer.metadata, chunkCount: 0) == description.count else {
            throw .damaged(.journal)
        }
        self.init(
            metadata: footer.metadata, encoding: footer.encoding,
            expectedLength: fields.expectedLength < 0 ? nil : fields.expectedLength,
            generation: fields.generation)
        let most = ItemFooter.chunkCount(contentBytes: ItemLimits.contentBytes) * Self.recordLength
        let records = try onFiles(fileSystem.presentBytes(of: file, at: length, count: most))
        try records.withBytes { bytes throws(ItemFormatError) in try readRecords(bytes) }
    }

    private mutating func readRecords(_ bytes: UnsafeRawBufferPointer) throws(ItemFormatError) {
        var reader = ByteReader(bytes, of: .journal)
        while reader.count >= Self.recordLength {
            let index = try reader.take(UInt32.self)
            let chunk = Chunk(storedBytes: try reader.take(), checksum: try reader.take())
            let most = Int64(ItemLimits.chunkBytes + (encoding == .lz4 ? LZ4Frame.overhead : 0))
            guard index == UInt32(chunks.count), Int64(chunk.storedBytes) <= most,
                encoding == .lz4 || Int64(chunk.storedBytes) == most,
                try reader.take() == Self.checksum(ofRecord: index, chunk, generation)
            else { return }
            chunks.append(chunk)
        }
    }

    /// Reads and verifies the chunks, one at a time, and passes their content to `sink` in order.
    ///
    /// - Returns: The number of valid chunks before the first invalid one.
    /// - Throws: ``ItemFormatError/fileSystem(_:)``.
    package func verify(
        in file: Descriptor, of fileSystem: any FileSystem, codecs: CodecPool,
        handing sink: (UnsafeRawBufferPointer) -> Void
    ) throws(ItemFormatError) -> Int {
        let loan = CodecLoan(from: codecs)
        var offset: Int64 = 0
        for (index, chunk) in chunks.enumerated() {
            guard let content = try content(of: chunk, at: offset, in: file, of: fileSystem, loan.codec)
            else {
                return index
            }
            sink(content)
            offset += Int64(chunk.storedBytes)
        }
        return chunks.count
    }

    /// Reads and verifies one complete chunk, and passes its content to `body`.
    ///
    /// - Returns: `nil` for an invalid chunk.
    /// - Throws: ``ItemFormatError/fileSystem(_:)``.
    package func withContent<Value>(
        ofChunk index: Int, in file: Descriptor, of fileSystem: any FileSystem, codecs: CodecPool,
        _ body: (UnsafeRawBufferPointer) -> Value
    ) throws(ItemFormatError) -> Value? {
        let loan = CodecLoan(from: codecs)
        let offset = chunks[..<index].reduce(Int64(0)) { $0 + Int64($1.storedBytes) }
        return try content(of: chunks[index], at: offset, in: file, of: fileSystem, loan.codec).map(body)
    }

    /// The content of a valid chunk, which is valid until the codec is used again.
    private func content(
        of chunk: Chunk, at offset: Int64, in file: Descriptor, of fileSystem: any FileSystem, _ codec: Codec
    ) throws(ItemFormatError) -> UnsafeRawBufferPointer? {
        let length = Int(chunk.storedBytes)
        let stored = codec.input(atLeast: length).slice(0..<length)
        guard try onFiles(fileSystem.readAll(file, into: stored, at: offset)) == length,
            let content = content(of: UnsafeRawBufferPointer(stored), with: codec),
            Checksum.of(content) == chunk.checksum
        else { return nil }
        return content
    }

    private func content(of stored: UnsafeRawBufferPointer, with codec: Codec) -> UnsafeRawBufferPointer? {
        guard encoding == .lz4 else { return stored }
        let output = codec.output(atLeast: ItemLimits.chunkBytes).slice(0..<ItemLimits.chunkBytes)
        return LZ4Frame.decompress(stored, into: output) ? UnsafeRawBufferPointer(output) : nil
    }
}

extension ItemFooter {
    /// Decodes the footer of an item without content.
    fileprivate init(description bytes: UnsafeRawBufferPointer) throws(ItemFormatError) {
        guard bytes.count >= Trailer.length + 8 else { throw .damaged(.journal) }
        let trailer = try Trailer(bytes.slice(bytes.count - Trailer.length..<bytes.count), of: .journal)
        try self.init(
            decoding: bytes, trailer: trailer, fileLength: Int64(bytes.count), isDescription: true)
    }
}

extension FileSystem {
    /// At most `count` bytes of a file from `offset`; fewer at its end. Allocates only what the file contains.
    fileprivate func presentBytes(of file: Descriptor, at offset: Int64, count: Int) throws(FileSystemError)
        -> [UInt8]
    {
        let present = max(0, try attributes(of: file).length - offset)
        return try bytes(of: file, at: offset, count: min(count, Int(clamping: present)))
    }
}

package import PrefetchFileSystem

/// The journal beside the kept chunks of an item whose storing is under way or was interrupted: a
/// description of the item and of each whole chunk.
///
/// The journal is not flushed to the device. Its records are compared with the chunks before any of them
/// is used, and the checksum of a record proves that it belongs to this journal and to its position in it.
package struct PartialJournal: Hashable, Sendable {
    /// The version of the journal that this code writes.
    package static let version: UInt16 = 1

    static let magic: UInt64 = 0x5065_6863_6143_6650
    static let fixedLength = 56
    static let recordLength = 24
    /// The longest description: the footer of an item without chunks.
    private static let descriptionLimit = 128 << 10

    package let metadata: ItemMetadata
    package let encoding: ItemEncoding
    /// Bytes of the whole content; `nil` when unknown.
    package let expectedLength: Int64?
    /// Distinguishes this partial from every other of the same item.
    package let generation: UInt64
    /// The whole chunks, in their order.
    package private(set) var chunks: [Chunk] = []

    package init(
        metadata: ItemMetadata, encoding: ItemEncoding, expectedLength: Int64?, generation: UInt64
    ) {
        self.metadata = metadata
        self.encoding = encoding
        self.expectedLength = expectedLength
        self.generation = generation
    }

    /// Bytes of content in all whole chunks.
    package var contentLength: Int64 { Int64(chunks.count) * Int64(ItemLimits.chunkLength) }

    /// Bytes that the whole chunks take in their file.
    package var storedLength: Int64 { chunks.reduce(0) { $0 + Int64($1.storedLength) } }

    /// Bytes of the journal file.
    package var length: Int64 { Self.length(metadata: metadata, chunkCount: chunks.count) }

    /// Bytes of a journal of `chunkCount` chunks.
    package static func length(metadata: ItemMetadata, chunkCount: Int) -> Int64 {
        Int64(fixedLength + ItemFooter.length(metadata: metadata, chunkCount: 0))
            + Int64(chunkCount) * Int64(recordLength)
    }

    /// Bytes of the journal of a whole item.
    package static func length(metadata: ItemMetadata, contentLength: Int64) -> Int64 {
        length(metadata: metadata, chunkCount: ItemFooter.chunkCount(contentLength: contentLength))
    }

    /// Keeps only the chunks that lie wholly in the first `length` bytes of their file.
    package mutating func cut(toStoredLength length: Int64) {
        var end: Int64 = 0
        let whole = chunks.prefix { chunk in
            end += Int64(chunk.storedLength)
            return end <= length
        }
        cut(to: whole.count)
    }

    /// Keeps only the first `count` chunks.
    package mutating func cut(to count: Int) {
        chunks.removeLast(chunks.count - count)
    }
}

/// The part of a journal that a reader of any version understands: its first 28 bytes.
package struct PartialHead: Hashable, Sendable {
    static let length = 28

    /// The session of the process that writes the partial; 0 for none.
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

    /// Records the writer of the partial, and since when, in its journal.
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
    /// Writes the beginning of a journal without records into an empty file.
    package func begin(
        _ file: Descriptor, in fileSystem: any FileSystem, writer session: UInt64, keptAt: Int64
    ) throws(FileSystemError) {
        let description = ItemFooter.encode(
            metadata: metadata, encoding: encoding, contentLength: 0, chunks: [], chunksLength: 0)
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
            writer.append(chunk.storedLength)
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
        writer.append(chunk.storedLength)
        writer.append(chunk.checksum)
        return writer.bytes.withUnsafeBytes { Checksum.of($0) }
    }

    /// Reads a journal with its records up to the first that is not sound.
    ///
    /// - Throws: ``ItemFormatError/damaged(_:)``, ``ItemFormatError/newerVersion(_:)`` or
    ///   ``ItemFormatError/fileSystem(_:)``.
    package init(of file: Descriptor, in fileSystem: any FileSystem) throws(ItemFormatError) {
        let head = try onFiles(PartialHead(of: file, in: fileSystem))
        guard let head else { throw .damaged(.journal) }
        guard head.version <= Self.version else { throw .newerVersion(head.version) }
        let fixed = try onFiles(fileSystem.presentBytes(of: file, at: 24, count: Self.fixedLength - 24))
        guard head.version == Self.version else { throw .damaged(.journal) }
        let fields = try fixed.withBytes { bytes throws(ItemFormatError) in try Fixed(bytes) }
        guard fields.descriptionLength <= Self.descriptionLimit else { throw .damaged(.journal) }
        let description = try onFiles(
            fileSystem.presentBytes(
                of: file, at: Int64(Self.fixedLength), count: Int(fields.descriptionLength)))
        let footer = try description.withBytes { bytes throws(ItemFormatError) in
            try ItemFooter(description: bytes)
        }
        // Records are located, appended and charged after a description of the length that this code writes. A longer
        // one that says the same, with fields unknown here, would put them elsewhere.
        guard ItemFooter.length(metadata: footer.metadata, chunkCount: 0) == description.count else {
            throw .damaged(.journal)
        }
        self.init(
            metadata: footer.metadata, encoding: footer.encoding, expectedLength: fields.expectedLength,
            generation: fields.generation)
        let most = ItemFooter.chunkCount(contentLength: ItemLimits.contentLength) * Self.recordLength
        let records = try onFiles(fileSystem.presentBytes(of: file, at: length, count: most))
        try records.withBytes { bytes throws(ItemFormatError) in try readRecords(bytes) }
    }

    private mutating func readRecords(_ bytes: UnsafeRawBufferPointer) throws(ItemFormatError) {
        var reader = ByteReader(bytes, of: .journal)
        while reader.count >= Self.recordLength {
            let index = try reader.take(UInt32.self)
            let chunk = Chunk(storedLength: try reader.take(), checksum: try reader.take())
            let most = Int64(ItemLimits.chunkLength + (encoding == .lz4 ? LZ4Frame.overhead : 0))
            guard index == UInt32(chunks.count), Int64(chunk.storedLength) <= most,
                encoding == .lz4 || Int64(chunk.storedLength) == most,
                try reader.take() == Self.checksum(ofRecord: index, chunk, generation)
            else { return }
            chunks.append(chunk)
        }
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
            let count = try onFiles(fileSystem.readAll(file, into: stored, at: offset))
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

    /// The fields between the head and the description.
    private struct Fixed {
        let descriptionLength: UInt32
        let generation: UInt64
        let expectedLength: Int64?

        init(_ bytes: UnsafeRawBufferPointer) throws(ItemFormatError) {
            var reader = ByteReader(bytes, of: .journal)
            // The version, and zero.
            _ = try reader.take(UInt32.self)
            descriptionLength = try reader.take()
            generation = try reader.take()
            let expected = try reader.take(Int64.self)
            expectedLength = expected < 0 ? nil : expected
            guard try reader.take() == Checksum.of(bytes.slice(0..<bytes.count - 8)) else {
                throw .damaged(.journal)
            }
        }
    }
}

extension ItemFooter {
    /// Decodes an item without content, which consists of a footer only.
    fileprivate init(description bytes: UnsafeRawBufferPointer) throws(ItemFormatError) {
        guard bytes.count >= Trailer.length + 8 else { throw .damaged(.journal) }
        let trailer = try Trailer(bytes.slice(bytes.count - Trailer.length..<bytes.count), of: .journal)
        try self.init(decoding: bytes, trailer: trailer, fileLength: Int64(bytes.count))
    }
}

extension FileSystem {
    /// At most `count` bytes of a file from `offset`; fewer where it ends. Nothing is allocated for bytes that are
    /// not there.
    fileprivate func presentBytes(of file: Descriptor, at offset: Int64, count: Int) throws(FileSystemError)
        -> [UInt8]
    {
        let present = max(0, try attributes(of: file).length - offset)
        return try bytes(of: file, at: offset, count: min(count, Int(clamping: present)))
    }
}

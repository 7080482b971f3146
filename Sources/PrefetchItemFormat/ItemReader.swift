package import PrefetchFileSystem
package import SystemPackage

/// Reads one item from an open file.
///
/// A small item is read with a single call, including its footer. For a large item, the footer is read first, then the
/// chunks that overlap the range. Memory is bounded by ``CodecPool/parallelism`` chunks. Bytes are valid only after the
/// call that delivers them has returned: by then the checksums of their chunks have been verified.
///
/// The reader does not close the file.
package final class ItemReader {
    /// Bytes of the first read, enough for a whole small item.
    private static let windowLength = 128 << 10
    /// Bytes first read from the end of a larger file, usually enough for its footer.
    private static let tailLength = 4 << 10

    package let footer: ItemFooter
    /// `nil` for a file that was read whole and closed.
    private let file: Descriptor?
    private let fileSystem: any FileSystem
    private let codecs: CodecPool
    private let loan: CodecLoan
    /// The whole file, if the first read returned all of it.
    private let window: UnsafeRawBufferPointer?

    /// Reads a small file, if all of it is in memory: nothing waits for the device, and nothing needs the file afterwards.
    ///
    /// - Parameter limit: The longest content, in bytes.
    /// - Returns: `nil` if that is impossible, or the file is not sound: a reader of the open file says why.
    /// - Throws: An error whose ``FileSystemError/isUnsupported`` is `true` where it is always impossible.
    package init?(
        inMemory name: FilePath, in directory: Descriptor, of fileSystem: any FileSystem, codecs: CodecPool,
        contentOfAtMost limit: Int64
    ) throws(FileSystemError) {
        let loan = CodecLoan(from: codecs)
        let buffer = loan.codec.input(atLeast: Self.windowLength).slice(0..<Self.windowLength)
        guard let count = try fileSystem.readIfInMemory(name, in: directory, into: buffer) else { return nil }
        let whole = UnsafeRawBufferPointer(buffer.slice(0..<count))
        guard let footer = Self.footer(ofWholeFile: whole), footer.contentBytes <= limit else { return nil }
        self.footer = footer
        self.fileSystem = fileSystem
        self.codecs = codecs
        self.loan = loan
        file = nil
        window = whole
    }

    /// Reads and validates the footer.
    ///
    /// - Throws: ``ItemFormatError/purged``, ``ItemFormatError/damaged(_:)``,
    ///   ``ItemFormatError/newerVersion(_:)`` or ``ItemFormatError/fileSystem(_:)``.
    package init(_ file: Descriptor, of fileSystem: any FileSystem, codecs: CodecPool)
        throws(ItemFormatError)
    {
        self.file = file
        self.fileSystem = fileSystem
        self.codecs = codecs
        let loan = CodecLoan(from: codecs)
        self.loan = loan

        let buffer = loan.codec.input(atLeast: Self.windowLength).slice(0..<Self.windowLength)
        let count = try onFiles(fileSystem.read(file, into: buffer, at: 0))
        if count < Self.windowLength,
            let footer = Self.footer(ofWholeFile: UnsafeRawBufferPointer(buffer.slice(0..<count)))
        {
            self.footer = footer
            window = UnsafeRawBufferPointer(buffer.slice(0..<count))
        } else {
            footer = try Self.footer(of: file, in: fileSystem, loan.codec)
            window = nil
        }
    }

    /// Reads `range` of the content into `output`, which must have exactly that length. After an error, the bytes in
    /// `output` are undefined.
    ///
    /// - Throws: ``ItemFormatError/rangeOutOfBounds(_:contentBytes:)``,
    ///   ``ItemFormatError/damaged(_:)`` or ``ItemFormatError/fileSystem(_:)``.
    package func read(_ range: Range<Int64>, into output: UnsafeMutableRawBufferPointer)
        throws(ItemFormatError)
    {
        precondition(output.count == range.count, "the buffer must have the length of the range")
        if range == 0..<footer.contentBytes {
            // Only whole chunks, so decode directly into `output`.
            var chunks = try chunks(of: range)
            while !chunks.isEmpty {
                let batch = takeBatch(of: &chunks)
                let content = contentRange(of: batch)
                try decode(
                    batch, into: output.slice(Int(content.lowerBound)..<Int(content.upperBound)))
            }
        } else {
            var done = 0
            var pieces = try pieces(of: range)
            while let piece = try pieces.next() {
                output.slice(done..<done + piece.count).copyMemory(from: piece)
                done += piece.count
            }
        }
    }

    /// Iterates over the content of a range in order.
    ///
    /// - Throws: ``ItemFormatError/rangeOutOfBounds(_:contentBytes:)``.
    package func pieces(of range: Range<Int64>) throws(ItemFormatError) -> Pieces {
        Pieces(reader: self, range: range, chunks: try chunks(of: range))
    }

    package struct Pieces {
        fileprivate let reader: ItemReader
        fileprivate let range: Range<Int64>
        fileprivate var chunks: Range<Int>

        /// Returns the next piece, which is valid until the next call; `nil` at the end of the range.
        ///
        /// - Throws: ``ItemFormatError/damaged(_:)``, ``ItemFormatError/purged`` or ``ItemFormatError/fileSystem(_:)``.
        package mutating func next() throws(ItemFormatError) -> UnsafeRawBufferPointer? {
            guard !chunks.isEmpty else { return nil }
            let batch = reader.takeBatch(of: &chunks)
            let content = reader.contentRange(of: batch)
            let output = reader.loan.codec.output(atLeast: content.count).slice(0..<content.count)
            try reader.decode(batch, into: output)
            let (start, wanted) = (content.lowerBound, range.clamped(to: content))
            return UnsafeRawBufferPointer(
                output.slice(Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start)))
        }
    }

    /// The indexes of the chunks that overlap `range`.
    private func chunks(of range: Range<Int64>) throws(ItemFormatError) -> Range<Int> {
        guard range.lowerBound >= 0, range.upperBound <= footer.contentBytes else {
            throw .rangeOutOfBounds(range, contentBytes: footer.contentBytes)
        }
        guard !range.isEmpty else { return 0..<0 }
        let length = Int64(ItemLimits.chunkBytes)
        return Int(range.lowerBound / length)..<Int((range.upperBound - 1) / length) + 1
    }

    /// Takes the next chunks, which are decoded in parallel.
    private func takeBatch(of chunks: inout Range<Int>) -> Range<Int> {
        let batch = chunks.prefix(codecs.parallelism)
        chunks = batch.upperBound..<chunks.upperBound
        return batch
    }

    private func contentRange(of batch: Range<Int>) -> Range<Int64> {
        let last = footer.contentRange(ofChunk: batch.upperBound - 1)
        return footer.contentRange(ofChunk: batch.lowerBound).lowerBound..<last.upperBound
    }

    /// Decodes and verifies the chunks of `batch` into `output`, which has the length of their content.
    private func decode(_ batch: Range<Int>, into output: UnsafeMutableRawBufferPointer)
        throws(ItemFormatError)
    {
        let stored = try storedBytes(of: batch, orInto: output)
        var offset = 0
        let pieces = batch.map { index in
            let length = Int(footer.chunks[index].storedBytes)
            defer { offset += length }
            return stored.slice(offset..<offset + length)
        }
        let areIntact = inParallel(batch.count) { position in
            let index = batch.lowerBound + position
            let range = footer.contentRange(ofChunk: index)
            let start = position * ItemLimits.chunkBytes
            return Self.decode(
                pieces[position], footer.encoding,
                into: output.slice(start..<start + Int(range.upperBound - range.lowerBound)),
                checksum: footer.chunks[index].checksum)
        }
        guard areIntact.allSatisfy({ $0 }) else { throw try contentError() }
    }

    private static func decode(
        _ stored: UnsafeRawBufferPointer, _ encoding: ItemEncoding,
        into output: UnsafeMutableRawBufferPointer, checksum: UInt64
    ) -> Bool {
        switch encoding {
        case .lz4:
            guard LZ4Frame.decompress(stored, into: output) else { return false }
        case .identity:
            if stored.baseAddress != UnsafeRawPointer(output.baseAddress) { output.copyMemory(from: stored) }
        }
        return Checksum.of(UnsafeRawBufferPointer(output)) == checksum
    }

    /// The stored bytes of the chunks of `batch`: from the window if it holds the whole file; for an identity item,
    /// read directly into `output`; otherwise read into the codec's buffer.
    private func storedBytes(of batch: Range<Int>, orInto output: UnsafeMutableRawBufferPointer)
        throws(ItemFormatError) -> UnsafeRawBufferPointer
    {
        // File offsets can exceed `Int`, which has 32 bits on watchOS.
        let start = footer.chunks[..<batch.lowerBound].reduce(Int64(0)) { $0 + Int64($1.storedBytes) }
        let length = footer.chunks[batch].reduce(0) { $0 + Int($1.storedBytes) }
        if let window { return window.slice(Int(start)..<Int(start) + length) }
        guard let file else { throw .damaged(.chunkContent) }

        let buffer =
            footer.encoding == .identity ? output : loan.codec.input(atLeast: length).slice(0..<length)
        let count = try onFiles(fileSystem.readAll(file, into: buffer, at: start))
        guard count == length else { throw try contentError() }
        return UnsafeRawBufferPointer(buffer)
    }

    /// The error for content that is not what the footer says: the system may purge files that are open, even while they
    /// are read or written. One that is emptied while it is written begins with a hole.
    private func contentError() throws(ItemFormatError) -> ItemFormatError {
        guard let file else { return .damaged(.chunkContent) }
        let length = try onFiles(fileSystem.attributes(of: file)).length
        if length < Int64(Trailer.length) { return .purged }
        return try beginsWithHole() ? .purged : .damaged(.chunkContent)
    }

    /// See ``FileSystem/beginsWithHole(_:)``.
    package func beginsWithHole() throws(ItemFormatError) -> Bool {
        guard let file else { return false }
        return try onFiles(fileSystem.beginsWithHole(file))
    }
}

extension ItemReader {
    /// The footer of a file that was read completely, or `nil` if anything is wrong: the slower path then determines
    /// the error.
    private static func footer(ofWholeFile bytes: UnsafeRawBufferPointer) -> ItemFooter? {
        guard bytes.count >= Trailer.length else { return nil }
        do {
            let trailer = try Trailer(bytes.slice(bytes.count - Trailer.length..<bytes.count))
            let length = Int(clamping: trailer.footerLength)
            guard length >= Trailer.length + 8, length <= bytes.count else { return nil }
            return try ItemFooter(
                decoding: bytes.slice(bytes.count - length..<bytes.count), trailer: trailer,
                fileLength: Int64(bytes.count))
        } catch {
            return nil
        }
    }

    private static func footer(of file: Descriptor, in fileSystem: any FileSystem, _ codec: Codec)
        throws(ItemFormatError) -> ItemFooter
    {
        let attributes = try onFiles(fileSystem.attributes(of: file))
        guard attributes.kind == .regular else { throw .damaged(.trailer) }
        let fileLength = attributes.length
        guard fileLength >= Int64(Trailer.length) else { throw .purged }

        var tail = try end(of: file, fileLength, in: fileSystem, codec, length: tailLength)
        let trailer = try Trailer(tail.slice(tail.count - Trailer.length..<tail.count))
        let length = Int(clamping: trailer.footerLength)
        let longest =
            trailer.version > ItemFooter.version ? ItemLimits.newerFooterBytes : ItemLimits.footerBytes
        guard length >= Trailer.length + 8, length <= longest, length <= fileLength else {
            throw .damaged(.trailer)
        }
        if length > tail.count {
            tail = try end(of: file, fileLength, in: fileSystem, codec, length: length)
        }
        return try ItemFooter(
            decoding: tail.slice(tail.count - length..<tail.count), trailer: trailer, fileLength: fileLength)
    }

    private static func end(
        of file: Descriptor, _ fileLength: Int64, in fileSystem: any FileSystem, _ codec: Codec, length: Int
    ) throws(ItemFormatError) -> UnsafeRawBufferPointer {
        let length = min(length, Int(clamping: fileLength))
        let buffer = codec.input(atLeast: length).slice(0..<length)
        let count = try onFiles(fileSystem.readAll(file, into: buffer, at: fileLength - Int64(length)))
        guard count == length else { throw .purged }
        return UnsafeRawBufferPointer(buffer)
    }
}

package import PrefetchFileSystem

/// The outcome of writing an item.
public struct ItemSummary: Hashable, Sendable {
    /// The encoding that was used.
    public let encoding: ItemEncoding
    /// The length of the content in bytes.
    public let contentBytes: Int64
    /// The length of the file in bytes.
    public let storedBytes: Int64
}

/// Writes one item to an open file from content that arrives in pieces of any size. The file is empty or begins with
/// the chunks of a partial.
///
/// Memory is bounded: less than one chunk is buffered, and at most ``CodecPool/parallelism`` chunks are compressed at a
/// time. An item whose only chunk is compressed, or has at most 64 KiB, is written with a single call.
///
/// The writer neither closes nor removes the file; after an error, the file is unusable.
package final class ItemWriter {
    private let file: Descriptor
    private let fileSystem: any FileSystem
    private let codecs: CodecPool
    private let metadata: ItemMetadata
    private let boot: UInt64?
    private let admit: (Int64) throws -> Void
    private let note: (ArraySlice<Chunk>, ItemEncoding) throws -> Void
    /// `nil` until LZ4 has been tried on the first chunk.
    private var encoding: ItemEncoding?

    private var pending: [UInt8] = []
    private var chunks: [Chunk] = []
    /// Bytes written to the file so far.
    package private(set) var storedBytes: Int64 = 0
    /// Bytes of content accepted so far.
    package private(set) var contentBytes: Int64 = 0

    /// - Parameters:
    ///   - boot: The ``Checksum/ofBoot(_:)`` of the current boot session; `nil` if unknown.
    ///   - kept: The journal of the partial in the file; the content is appended to its chunks.
    ///   - note: Called with the complete chunks that have been written.
    ///   - admit: Called before every write with the resulting file length in bytes; if it throws, nothing is written.
    /// - Throws: ``ItemFormatError/metadataTooLong(field:bytes:limit:)`` or
    ///   ``ItemFormatError/priorityOutOfRange(_:)``.
    package init(
        _ file: Descriptor, of fileSystem: any FileSystem, codecs: CodecPool, metadata: ItemMetadata,
        encoding: EncodingChoice = .automatic, boot: UInt64? = nil, after kept: PartialJournal? = nil,
        noting note: @escaping (ArraySlice<Chunk>, ItemEncoding) throws -> Void = { _, _ in },
        admit: @escaping (Int64) throws -> Void = { _ in }
    ) throws(ItemFormatError) {
        try metadata.validate()
        self.file = file
        self.fileSystem = fileSystem
        self.codecs = codecs
        self.metadata = metadata
        self.boot = boot
        self.note = note
        self.admit = admit
        if let kept {
            self.encoding = kept.encoding
            chunks = kept.chunks
            storedBytes = kept.storedBytes
            contentBytes = kept.contentBytes
            return
        }
        self.encoding =
            switch encoding {
            case .automatic: nil
            case .forced(let encoding): encoding
            }
    }

    /// Appends content.
    ///
    /// - Throws: ``ItemFormatError/contentTooLong``, ``ItemFormatError/fileSystem(_:)`` or any error thrown by `admit`
    ///   or `note`.
    package func append(_ bytes: UnsafeRawBufferPointer) throws {
        guard contentBytes + Int64(bytes.count) <= ItemLimits.contentBytes else {
            throw ItemFormatError.contentTooLong
        }
        contentBytes += Int64(bytes.count)
        var done = 0
        if !pending.isEmpty {
            done = min(bytes.count, ItemLimits.chunkBytes - pending.count)
            pending.append(contentsOf: bytes[..<done])
            guard pending.count == ItemLimits.chunkBytes else { return }
            try pending.withBytes { try encode(wholeChunks: $0) }
            pending.removeAll(keepingCapacity: true)
        }
        while bytes.count - done >= ItemLimits.chunkBytes {
            // The first chunk is compressed alone, since it determines the encoding.
            let most = encoding == nil ? 1 : codecs.parallelism
            let count = min((bytes.count - done) / ItemLimits.chunkBytes, most) * ItemLimits.chunkBytes
            try encode(wholeChunks: bytes.slice(done..<done + count))
            done += count
        }
        pending.append(contentsOf: bytes[done...])
    }

    /// Appends the last piece of content and completes the item; nothing can be appended afterwards.
    ///
    /// - Throws: The errors of ``append(_:)``, and ``ItemFormatError/contentDiffersFromParts(contentBytes:partsBytes:)``.
    package func finish(appending last: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0))
        throws -> ItemSummary
    {
        guard pending.isEmpty, last.count <= ItemLimits.chunkBytes,
            contentBytes + Int64(last.count) <= ItemLimits.contentBytes
        else {
            try append(last)
            return try pending.withBytes { try complete(with: $0) }
        }
        contentBytes += Int64(last.count)
        return try complete(with: last)
    }

    /// Writes whole chunks, of which the first of the content comes alone.
    private func encode(wholeChunks bytes: UnsafeRawBufferPointer) throws {
        let known = chunks.count
        let pieces = stride(from: 0, to: bytes.count, by: ItemLimits.chunkBytes).map {
            bytes.slice($0..<$0 + ItemLimits.chunkBytes)
        }
        if encoding != .identity {
            try codecs.withCodecs(pieces.count) { codecs in
                let isTrial = encoding == nil
                let frames = inParallel(pieces.count) {
                    Frame(
                        compressing: pieces[$0], Checksum.of(pieces[$0]), with: codecs[$0], isTrial: isTrial)
                }
                decideEncoding(by: frames[0])
                for case let frame? in frames {
                    chunks.append(frame.chunk)
                    try write(frame.bytes)
                }
            }
        }
        if encoding == .identity {
            for piece in pieces {
                chunks.append(Chunk(identity: piece))
                try write(piece)
            }
        }
        try note(chunks[known...], encoding ?? .identity)
    }

    /// Writes the last chunk, which may be empty, and the footer.
    private func complete(with last: UnsafeRawBufferPointer) throws -> ItemSummary {
        try metadata.requireLength(contentBytes)
        try codecs.withCodecs(1) { codecs in
            let codec = codecs[0]
            var end = last
            if last.isEmpty {
                encoding = encoding ?? .identity
            } else if encoding == .identity {
                chunks.append(Chunk(identity: last))
            } else {
                let footerLength = ItemFooter.length(metadata: metadata, chunkCount: chunks.count + 1)
                // First, since it brings the content into the processor's caches at full speed.
                let checksum = Checksum.of(last)
                let frame = Frame(
                    compressing: last, checksum, with: codec, isTrial: encoding == nil, leaving: footerLength)
                decideEncoding(by: frame)
                end = frame?.bytes ?? last
                chunks.append(Chunk(storedBytes: UInt32(end.count), checksum: checksum))
            }
            try write(end, followedBy: footer(chunksLength: storedBytes + Int64(end.count)), codec)
        }
        return ItemSummary(
            encoding: encoding ?? .identity, contentBytes: contentBytes, storedBytes: storedBytes)
    }

    private func footer(chunksLength: Int64) -> [UInt8] {
        let encoding = encoding ?? .identity
        return ItemFooter.encode(
            metadata: metadata, encoding: encoding, contentBytes: contentBytes, chunks: chunks,
            chunksLength: chunksLength,
            boot: ItemFooter.recordsBoot(encoding, contentBytes: contentBytes) ? boot : nil)
    }

    /// - Parameter first: The first frame; `nil` if the trial failed.
    private func decideEncoding(by first: Frame?) {
        if encoding == nil { encoding = first == nil ? .identity : .lz4 }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        try admit(storedBytes + Int64(bytes.count))
        try onFiles(fileSystem.writeAll(bytes, to: file, at: storedBytes))
        storedBytes += Int64(bytes.count)
    }

    /// Writes the end of the content and the footer, with a single call if that requires at most a small copy. A frame
    /// requires none, since it is already in the codec's buffer.
    private func write(_ end: UnsafeRawBufferPointer, followedBy footer: [UInt8], _ codec: Codec) throws {
        let length = end.count + footer.count
        let isFrame =
            !end.isEmpty && end.baseAddress == UnsafeRawPointer(codec.output(atLeast: 0).baseAddress)
        guard isFrame || end.count <= Self.longestCopy else {
            try write(end)
            return try footer.withBytes { try write($0) }
        }
        // The buffer of a frame already has room for the footer, so it is not reallocated here.
        let buffer = codec.output(atLeast: length)
        if !isFrame { buffer.copyMemory(from: end) }
        buffer.slice(end.count..<length).copyBytes(from: footer)
        try write(UnsafeRawBufferPointer(buffer.slice(0..<length)))
    }

    /// Copying this many bytes takes about as long as the system call it saves.
    private static let longestCopy = 64 << 10
}

/// A compressed chunk in the output buffer of a codec.
private struct Frame {
    let bytes: UnsafeRawBufferPointer
    let chunk: Chunk

    /// - Parameters:
    ///   - checksum: Of the content.
    ///   - isTrial: Whether to give up, with `nil`, when the frame does not save enough.
    ///   - room: Bytes to leave free after the frame, for data written in the same call.
    init?(
        compressing content: UnsafeRawBufferPointer, _ checksum: UInt64, with codec: Codec, isTrial: Bool,
        leaving room: Int = 0
    ) {
        let output = codec.output(atLeast: content.count + LZ4Frame.overhead + room)
        let frame =
            isTrial
            ? codec.compressor.compressIfWorthwhile(content, into: output)
            : codec.compressor.compress(content, into: output)
        guard let length = frame else { return nil }
        bytes = UnsafeRawBufferPointer(output.slice(0..<length))
        chunk = Chunk(storedBytes: UInt32(length), checksum: checksum)
    }
}

extension Chunk {
    /// A chunk of content that is stored as it is.
    package init(identity content: UnsafeRawBufferPointer) {
        self.init(storedBytes: UInt32(content.count), checksum: Checksum.of(content))
    }
}

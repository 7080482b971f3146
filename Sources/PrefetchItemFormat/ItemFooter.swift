internal import PrefetchFileSystem
internal import PrefetchStorageAreas

/// One entry of the chunk table.
package struct Chunk: Hashable, Sendable {
    /// Bytes that the chunk takes in the file.
    package let storedLength: UInt32
    /// XXH3-64 of the chunk's content.
    package let checksum: UInt64

    package init(storedLength: UInt32, checksum: UInt64) {
        self.storedLength = storedLength
        self.checksum = checksum
    }
}

/// The description at the end of every item: what it is, and where its chunks are.
///
/// The footer is a standard LZ4 skippable frame, so that LZ4 tools pass over it. From the outside
/// in: the last 32 bytes of the file are the ``Trailer``, which says how long the footer is; before
/// it lies the chunk table; before that the fields.
package struct ItemFooter: Hashable, Sendable {
    /// The version of the format that this code writes.
    package static let version: UInt16 = 1

    package let metadata: ItemMetadata
    package let encoding: ItemEncoding
    /// Bytes of the original.
    package let contentLength: Int64
    package let chunks: [Chunk]
    /// Bytes of the whole file.
    package let storedLength: Int64
    /// The ``Checksum/ofBoot(_:)`` of the machine's boot in which the file was written; `nil` where it is not
    /// recorded, see ``recordsBoot(_:contentLength:)``.
    package let boot: UInt64?

    /// Whether the footer of an item records the boot in which it was written.
    ///
    /// A large identity item is promoted without its content being read, so that promoting it takes the same
    /// time whatever its size. That is safe in the boot in which it was written: stores are not flushed, so a
    /// crash of the machine may have damaged it. Verifying a smaller item takes less time than the flushes of
    /// its promotion, and it is always verified.
    package static func recordsBoot(_ encoding: ItemEncoding, contentLength: Int64) -> Bool {
        encoding == .identity && contentLength > ItemLimits.alwaysVerifiedLength
    }

    /// The checksum of the whole content; see ``Checksum``.
    package var contentChecksum: UInt64 { Checksum.ofContent(chunks: chunks) }

    /// The number of chunks of a content.
    static func chunkCount(contentLength: Int64) -> Int {
        Int((contentLength + Int64(ItemLimits.chunkLength) - 1) / Int64(ItemLimits.chunkLength))
    }

    /// The content of chunk `index`, as a range of the whole content.
    func contentRange(ofChunk index: Int) -> Range<Int64> {
        let start = Int64(index) * Int64(ItemLimits.chunkLength)
        return start..<min(start + Int64(ItemLimits.chunkLength), contentLength)
    }

    /// The largest number of bytes that the file of an item with `contentLength` bytes of content can
    /// take, in either encoding. Space is reserved for this before the first byte is written.
    ///
    /// A length beyond ``ItemLimits/contentLength``, as a server may claim, gives `Int64.max`, for which
    /// there is never room.
    package static func storedLengthBound(contentLength: Int64, metadata: ItemMetadata) -> Int64 {
        guard contentLength <= ItemLimits.contentLength else { return .max }
        let chunks = chunkCount(contentLength: contentLength)
        // The boot that an identity item records takes less than the frames that are counted here.
        return contentLength + Int64(chunks) * Int64(LZ4Frame.overhead)
            + Int64(length(metadata: metadata, chunkCount: chunks))
    }
}

/// The last 32 bytes of every item, the same in every version of the format.
///
/// | offset | type | what |
/// |---|---|---|
/// | 0 | u64 | bytes of the whole file |
/// | 8 | u32 | bytes of the footer, from its magic number to the end of the file |
/// | 12 | u16 | version of the format |
/// | 14 | u16 | zero |
/// | 16 | u64 | XXH3-64 of the footer up to here |
/// | 24 | 8 bytes | `PfCacheI` |
struct Trailer {
    static let length = 32
    static let magic: UInt64 = 0x4965_6863_6143_6650

    let storedLength: UInt64
    let footerLength: UInt32
    let version: UInt16
    let reserved: UInt16
    let checksum: UInt64

    /// - Throws: ``ItemFormatError/damaged(_:)`` when the magic number is not there.
    init(
        _ bytes: UnsafeRawBufferPointer, of damage: ItemFormatError.Damage = .trailer
    ) throws(ItemFormatError) {
        var reader = ByteReader(bytes, of: damage)
        storedLength = try reader.take()
        footerLength = try reader.take()
        version = try reader.take()
        reserved = try reader.take()
        checksum = try reader.take()
        guard try reader.take(UInt64.self) == Self.magic else { throw .damaged(damage) }
    }

    /// Whether this is a newer version whose footer is longer than this code reads. Its checksum cannot be
    /// verified, so the version is believed only when all the rest of the trailer agrees.
    func isOfLongerFooter(fileLength: Int64) -> Bool {
        version > ItemFooter.version && reserved == 0 && storedLength == UInt64(fileLength)
            && Int64(footerLength) > Int64(ItemLimits.footerLength) && Int64(footerLength) <= fileLength
    }
}

/// The tags of the footer's fields. A reader skips a tag that it does not know, unless
/// ``critical`` is set in it: then the item needs a newer reader.
enum FieldTag {
    static let key: UInt16 = 1
    static let source: UInt16 = 2
    static let destinationName: UInt16 = 3
    static let entityTag: UInt16 = 4
    static let lastModified: UInt16 = 5
    static let attributes: UInt16 = 6
    static let chunkTable: UInt16 = 7
    static let boot: UInt16 = 9
    /// Critical, since a reader that skips it would hand the item over in the wrong folder.
    static let destinationFolder: UInt16 = critical | 8
    static let critical: UInt16 = 0x8000

    /// A distinct bit for every tag that this code knows, `nil` for any other.
    static func bit(of tag: UInt16) -> UInt16? {
        switch tag {
        case key...chunkTable: 1 << tag
        case destinationFolder: 1 << 8
        case boot: 1 << boot
        default: nil
        }
    }
}

extension ItemFooter {
    /// The magic number of the skippable frame, one of the sixteen that LZ4 reserves for users.
    static let frameMagic: UInt32 = 0x184D_2A5C
    static let bytesPerChunk = 12
    static let headLength = 48
    private static let fieldHeadLength = 8

    /// The length in bytes of the footer of an item with `chunkCount` chunks.
    static func length(metadata: ItemMetadata, chunkCount: Int, boot: UInt64? = nil) -> Int {
        let texts = textFields(of: metadata)
        return 8 + headLength + texts.reduce(0) { $0 + fieldHeadLength + $1.text.utf8.count }
            + (metadata.attributes.isEmpty ? 0 : fieldHeadLength + metadata.attributes.count)
            + (boot == nil ? 0 : fieldHeadLength + MemoryLayout<UInt64>.size)
            + fieldHeadLength + chunkCount * bytesPerChunk + Trailer.length
    }

    /// The footer of an item whose chunks take `chunksLength` bytes of the file.
    static func encode(
        metadata: ItemMetadata, encoding: ItemEncoding, contentLength: Int64, chunks: [Chunk],
        chunksLength: Int64, boot: UInt64? = nil
    ) -> [UInt8] {
        let length = length(metadata: metadata, chunkCount: chunks.count, boot: boot)
        var writer = ByteWriter(capacity: length)
        writer.append(frameMagic)
        writer.append(UInt32(length - 8))

        writer.append(encoding.rawValue)
        writer.append(metadata.intent.rawValue)
        writer.append(metadata.destination.area.rawValue)
        writer.append(metadata.destination.backup.rawValue)
        writer.append(metadata.priority.bitPattern)
        writer.append(contentLength)
        writer.append(Checksum.ofContent(chunks: chunks))
        writer.append(metadata.storedAt)
        writer.append(metadata.expiresAt ?? Int64.max)
        writer.append(UInt32(ItemLimits.chunkLength))
        writer.append(UInt32(chunks.count))

        for (tag, text) in textFields(of: metadata) {
            writer.appendFieldHead(tag, length: text.utf8.count)
            writer.append(bytes: text.utf8)
        }
        if !metadata.attributes.isEmpty {
            writer.appendFieldHead(FieldTag.attributes, length: metadata.attributes.count)
            writer.append(bytes: metadata.attributes)
        }
        if let boot {
            writer.appendFieldHead(FieldTag.boot, length: MemoryLayout<UInt64>.size)
            writer.append(boot)
        }
        writer.appendFieldHead(FieldTag.chunkTable, length: chunks.count * bytesPerChunk)
        for chunk in chunks {
            writer.append(chunk.storedLength)
            writer.append(chunk.checksum)
        }

        writer.append(UInt64(chunksLength) + UInt64(length))
        writer.append(UInt32(length))
        writer.append(version)
        writer.append(UInt16(0))
        writer.append(writer.bytes.withUnsafeBytes { Checksum.of($0) })
        writer.append(Trailer.magic)
        return writer.bytes
    }

    /// The text fields in the order in which they are written; empty ones are left out.
    private static func textFields(of metadata: ItemMetadata) -> [(tag: UInt16, text: String)] {
        [
            (FieldTag.key, metadata.key.string),
            (FieldTag.source, metadata.source),
            (FieldTag.destinationName, metadata.destination.name.string),
            (FieldTag.entityTag, metadata.validator.entityTag ?? ""),
            (FieldTag.lastModified, metadata.validator.lastModified ?? ""),
            (FieldTag.destinationFolder, metadata.destination.folder?.string ?? ""),
        ].filter { !$0.1.isEmpty }
    }
}

extension ByteWriter {
    /// Appends the head of a field: its tag, two zero bytes and the length of its value.
    fileprivate mutating func appendFieldHead(_ tag: UInt16, length: Int) {
        append(tag)
        append(UInt16(0))
        append(UInt32(length))
    }
}

extension ItemFooter {
    /// Decodes a whole footer, from the magic number of its frame to the end of its trailer.
    ///
    /// Every length and count is checked against the length of the file before it is used; nothing is
    /// allocated on the strength of a claim alone.
    ///
    /// - Throws: ``ItemFormatError/damaged(_:)`` or ``ItemFormatError/newerVersion(_:)``.
    init(decoding bytes: UnsafeRawBufferPointer, trailer: Trailer, fileLength: Int64)
        throws(ItemFormatError)
    {
        let checked = UnsafeRawBufferPointer(rebasing: bytes.dropLast(16))
        guard Checksum.of(checked) == trailer.checksum else { throw .damaged(.footerChecksum) }
        guard trailer.version <= Self.version else { throw .newerVersion(trailer.version) }
        guard trailer.version == Self.version else { throw .damaged(.footerFields) }
        guard trailer.storedLength == UInt64(fileLength) else { throw .damaged(.footerFields) }

        var reader = ByteReader(bytes.slice(0..<bytes.count - Trailer.length), of: .footerFields)
        guard try reader.take(UInt32.self) == Self.frameMagic,
            try reader.take(UInt32.self) == UInt32(bytes.count - 8)
        else { throw .damaged(.footerFields) }
        let head = try Head(&reader)
        let fields = try Fields(&reader)

        metadata = try Self.metadata(head, fields)
        encoding = head.encoding
        contentLength = head.contentLength
        chunks = fields.chunks
        storedLength = fileLength
        boot = fields.boot
        try checkChunkTable(claimed: head, chunksLength: fileLength - Int64(bytes.count))
    }

    private static func metadata(_ head: Head, _ fields: Fields) throws(ItemFormatError) -> ItemMetadata {
        do {
            let name = try FileName(fields.texts[FieldTag.destinationName] ?? "")
            let folder = try fields.texts[FieldTag.destinationFolder].map(FolderPath.init)
            guard
                let destination = Destination(
                    area: head.area, name: name, in: folder, backup: head.backup)
            else { throw ItemFormatError.damaged(.footerFields) }
            let metadata = ItemMetadata(
                key: try ItemKey(fields.texts[FieldTag.key] ?? ""),
                source: fields.texts[FieldTag.source] ?? "",
                intent: head.intent,
                destination: destination,
                validator: Validator(
                    entityTag: fields.texts[FieldTag.entityTag],
                    lastModified: fields.texts[FieldTag.lastModified]),
                priority: head.priority,
                storedAt: head.storedAt,
                expiresAt: head.expiresAt == .max ? nil : head.expiresAt,
                attributes: fields.attributes)
            try metadata.validate()
            return metadata
        } catch {
            throw .damaged(.footerFields)
        }
    }

    /// Checks the chunk table against the lengths of the file and of the content.
    private func checkChunkTable(claimed head: Head, chunksLength: Int64) throws(ItemFormatError) {
        let total = chunks.reduce(Int64(0)) { $0 + Int64($1.storedLength) }
        guard head.chunkLength == UInt32(ItemLimits.chunkLength),
            (0...ItemLimits.contentLength(storedLength: storedLength)).contains(contentLength),
            head.chunkCount == UInt32(chunks.count),
            chunks.count == Self.chunkCount(contentLength: contentLength),
            total == chunksLength,
            contentChecksum == head.contentChecksum
        else { throw .damaged(.chunkTable) }

        for (index, chunk) in chunks.enumerated() {
            let range = contentRange(ofChunk: index)
            let content = range.upperBound - range.lowerBound
            let isPlausible =
                switch encoding {
                case .identity: Int64(chunk.storedLength) == content
                case .lz4: Int64(chunk.storedLength) <= content + Int64(LZ4Frame.overhead)
                }
            guard isPlausible else { throw .damaged(.chunkTable) }
        }
    }
}

/// The part of the footer with fixed offsets.
private struct Head {
    let encoding: ItemEncoding
    let intent: Intent
    let area: Area
    let backup: BackupPolicy
    let priority: Float
    let contentLength: Int64
    let contentChecksum: UInt64
    let storedAt: Int64
    let expiresAt: Int64
    let chunkLength: UInt32
    let chunkCount: UInt32

    init(_ reader: inout ByteReader) throws(ItemFormatError) {
        encoding = try reader.take()
        intent = try reader.take()
        area = try reader.take()
        backup = try reader.take()
        priority = Float(bitPattern: try reader.take())
        contentLength = try reader.take()
        contentChecksum = try reader.take()
        storedAt = try reader.take()
        expiresAt = try reader.take()
        chunkLength = try reader.take()
        chunkCount = try reader.take()
    }
}

/// The tagged part of the footer.
private struct Fields {
    var texts: [UInt16: String] = [:]
    var attributes: [UInt8] = []
    var chunks: [Chunk] = []
    var boot: UInt64?

    init(_ reader: inout ByteReader) throws(ItemFormatError) {
        // No writer writes a field twice, and nothing says which of the two to believe.
        var seen: UInt16 = 0
        while reader.count > 0 {
            let tag = try reader.take(UInt16.self)
            guard try reader.take(UInt16.self) == 0 else { throw .damaged(.footerFields) }
            let value = try reader.take(count: Int(clamping: try reader.take(UInt32.self)))
            let bit = FieldTag.bit(of: tag) ?? 0
            guard seen & bit == 0 else { throw .damaged(.footerFields) }
            seen |= bit

            switch tag {
            case FieldTag.key, FieldTag.source, FieldTag.destinationName, FieldTag.entityTag,
                FieldTag.lastModified, FieldTag.destinationFolder:
                guard let text = String(validating: value, as: UTF8.self) else {
                    throw .damaged(.footerFields)
                }
                texts[tag] = text
            case FieldTag.attributes:
                attributes = [UInt8](value)
            case FieldTag.boot:
                var number = ByteReader(value, of: .footerFields)
                boot = try number.take(UInt64.self)
                guard number.count == 0 else { throw .damaged(.footerFields) }
            case FieldTag.chunkTable:
                var table = ByteReader(value, of: .chunkTable)
                chunks.reserveCapacity(value.count / ItemFooter.bytesPerChunk)
                while table.count > 0 {
                    chunks.append(Chunk(storedLength: try table.take(), checksum: try table.take()))
                }
            default:
                guard tag & FieldTag.critical == 0 else { throw .newerVersion(ItemFooter.version + 1) }
            }
        }
    }
}

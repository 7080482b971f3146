internal import Foundation
internal import PrefetchFileSystem
internal import PrefetchStorageAreas

/// One entry of the chunk table.
package struct Chunk: Hashable, Sendable {
    /// The length of the chunk in the file, in bytes.
    package let storedBytes: UInt32
    /// XXH3-64 of the chunk's content.
    package let checksum: UInt64

    package init(storedBytes: UInt32, checksum: UInt64) {
        self.storedBytes = storedBytes
        self.checksum = checksum
    }
}

/// The metadata and chunk table at the end of every item.
///
/// The footer is a standard LZ4 skippable frame, so that LZ4 tools ignore it. It ends with the ``Trailer``, the last 32
/// bytes of the file, which holds the length of the footer. The trailer is preceded by the chunk table, which is
/// preceded by the fields.
package struct ItemFooter: Hashable, Sendable {
    /// The format version written by this code.
    package static let version: UInt16 = 1

    package let metadata: ItemMetadata
    package let encoding: ItemEncoding
    /// The length of the content in bytes.
    package let contentBytes: Int64
    package let chunks: [Chunk]
    /// The length of the file in bytes.
    package let storedBytes: Int64
    /// The ``Checksum/ofBoot(_:)`` of the boot session in which the file was written; `nil` if it is not recorded, see
    /// ``recordsBoot(_:contentBytes:)``.
    package let boot: UInt64?

    /// Whether the footer of an item records the boot session in which it was written.
    ///
    /// A large identity item is promoted without reading its content, so that promotion takes constant time. That is
    /// safe only within the boot session in which it was written: stores are not flushed, so a system crash may have
    /// damaged it. Smaller items are always verified, which takes less time than the flushes of their promotion.
    package static func recordsBoot(_ encoding: ItemEncoding, contentBytes: Int64) -> Bool {
        encoding == .identity && contentBytes > ItemLimits.alwaysVerifiedBytes
    }

    /// The checksum of the whole content; see ``Checksum``.
    package var contentChecksum: UInt64 { Checksum.ofContent(chunks: chunks) }

    /// The number of chunks for a content length in bytes.
    static func chunkCount(contentBytes: Int64) -> Int {
        Int((contentBytes + Int64(ItemLimits.chunkBytes) - 1) / Int64(ItemLimits.chunkBytes))
    }

    /// The content of chunk `index`, as a range of the whole content.
    func contentRange(ofChunk index: Int) -> Range<Int64> {
        let start = Int64(index) * Int64(ItemLimits.chunkBytes)
        return start..<min(start + Int64(ItemLimits.chunkBytes), contentBytes)
    }

    /// The maximum file length, in bytes, of an item with `contentBytes` bytes of content, in either encoding. This
    /// much space is reserved before the first byte is written.
    ///
    /// Returns `Int64.max`, for which there is never room, for a length beyond ``ItemLimits/contentBytes``, which a
    /// server may claim.
    package static func storedBytesBound(contentBytes: Int64, metadata: ItemMetadata) -> Int64 {
        guard contentBytes <= ItemLimits.contentBytes else { return .max }
        let chunks = chunkCount(contentBytes: contentBytes)
        // The boot field of an identity item takes less than the LZ4 overhead counted here.
        return contentBytes + Int64(chunks) * Int64(LZ4Frame.overhead)
            + Int64(length(metadata: metadata, chunkCount: chunks))
    }
}

/// The last 32 bytes of every item, the same in every version of the format.
///
/// | offset | type | meaning |
/// |---|---|---|
/// | 0 | u64 | length of the file in bytes |
/// | 8 | u32 | length of the footer in bytes, from its magic number to the end of the file |
/// | 12 | u16 | format version |
/// | 14 | u16 | zero |
/// | 16 | u64 | XXH3-64 of the footer up to this field |
/// | 24 | 8 bytes | `PfCacheI` |
struct Trailer {
    static let length = 32
    static let magic: UInt64 = 0x4965_6863_6143_6650

    let storedBytes: UInt64
    let footerLength: UInt32
    let version: UInt16
    let checksum: UInt64

    /// - Throws: ``ItemFormatError/damaged(_:)`` if the magic number is missing.
    init(
        _ bytes: UnsafeRawBufferPointer, of damage: ItemFormatError.Damage = .trailer
    ) throws(ItemFormatError) {
        var reader = ByteReader(bytes, of: damage)
        storedBytes = try reader.take()
        footerLength = try reader.take()
        version = try reader.take()
        _ = try reader.take(UInt16.self)
        checksum = try reader.take()
        guard try reader.take(UInt64.self) == Self.magic else { throw .damaged(damage) }
    }
}

/// The tags of the footer's fields. A reader skips unknown tags, unless their ``critical`` bit is set: then the item
/// requires a newer reader.
enum FieldTag {
    static let key: UInt16 = 1
    static let source: UInt16 = 2
    static let destinationName: UInt16 = 3
    static let entityTag: UInt16 = 4
    static let lastModified: UInt16 = 5
    static let attributes: UInt16 = 6
    static let chunkTable: UInt16 = 7
    static let boot: UInt16 = 9
    static let url: UInt16 = 11
    /// Critical, since a reader that ignores it would promote the item to the wrong folder.
    static let destinationFolder: UInt16 = critical | 8
    /// Has an empty value. Critical, since a reader that ignores it would expect a destination.
    static let noDestination: UInt16 = critical | 10
    /// Critical, since a reader that ignores it would promote a bundle to one file.
    static let parts: UInt16 = critical | 12
    /// In place of ``parts``, if a file is executable: an older reader leaves such an item alone.
    static let partsWithPrograms: UInt16 = critical | 13
    static let critical: UInt16 = 0x8000

    /// A distinct bit for every known tag, `nil` for any other.
    static func bit(of tag: UInt16) -> UInt16? {
        switch tag {
        case key...chunkTable: 1 << tag
        case destinationFolder: 1 << 8
        case boot, url: 1 << tag
        case noDestination: 1 << 10
        case parts, partsWithPrograms: 1 << 12
        default: nil
        }
    }
}

extension ItemFooter {
    /// The magic number of the frame, one of the sixteen that LZ4 reserves for skippable frames.
    static let frameMagic: UInt32 = 0x184D_2A5C
    static let bytesPerChunk = 12
    static let headLength = 48
    private static let fieldHeadLength = 8

    /// The length of the footer, in bytes, of an item with `chunkCount` chunks.
    static func length(metadata: ItemMetadata, chunkCount: Int) -> Int {
        length(fields: fields(of: metadata, boot: nil), chunkCount: chunkCount)
    }

    private static func length(fields: [(tag: UInt16, value: [UInt8])], chunkCount: Int) -> Int {
        8 + headLength + fields.reduce(0) { $0 + fieldHeadLength + $1.value.count }
            + fieldHeadLength + chunkCount * bytesPerChunk + Trailer.length
    }

    /// Encodes the footer of an item whose chunks take `chunksLength` bytes of the file.
    static func encode(
        metadata: ItemMetadata, encoding: ItemEncoding, contentBytes: Int64, chunks: [Chunk],
        chunksLength: Int64, boot: UInt64? = nil
    ) -> [UInt8] {
        let fields = fields(of: metadata, boot: boot)
        let length = length(fields: fields, chunkCount: chunks.count)
        var writer = ByteWriter(capacity: length)
        writer.append(frameMagic)
        writer.append(UInt32(length - 8))

        writer.append(encoding.rawValue)
        writer.append(metadata.intent.rawValue)
        writer.append((metadata.destination?.area ?? .applicationSupport).rawValue)
        writer.append((metadata.destination?.backup ?? .exclude).rawValue)
        writer.append(metadata.priority.bitPattern)
        writer.append(contentBytes)
        writer.append(Checksum.ofContent(chunks: chunks))
        writer.append(metadata.storedAt)
        writer.append(metadata.expiresAt ?? Int64.max)
        writer.append(UInt32(ItemLimits.chunkBytes))
        writer.append(UInt32(chunks.count))

        for (tag, value) in fields {
            writer.appendFieldHead(tag, length: value.count)
            writer.append(bytes: value)
        }
        writer.appendFieldHead(FieldTag.chunkTable, length: chunks.count * bytesPerChunk)
        for chunk in chunks {
            writer.append(chunk.storedBytes)
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

    /// The fields in the order in which they are written, but for the chunk table, which is the last.
    private static func fields(of metadata: ItemMetadata, boot: UInt64?) -> [(tag: UInt16, value: [UInt8])] {
        let destination = metadata.destination
        var fields: [(tag: UInt16, value: [UInt8])] = []
        func add(_ tag: UInt16, _ text: String?) {
            if let text, !text.isEmpty { fields.append((tag, Array(text.utf8))) }
        }
        add(FieldTag.key, metadata.key.string)
        add(FieldTag.source, metadata.source)
        add(FieldTag.destinationName, destination?.name.string)
        add(FieldTag.entityTag, metadata.validator.entityTag)
        add(FieldTag.lastModified, metadata.validator.lastModified)
        add(FieldTag.destinationFolder, destination?.folder?.string)
        add(FieldTag.url, metadata.url?.absoluteString)
        if destination == nil { fields.append((FieldTag.noDestination, [])) }
        if !metadata.attributes.isEmpty { fields.append((FieldTag.attributes, metadata.attributes)) }
        if !metadata.parts.isEmpty {
            let hasPrograms = metadata.parts.contains(where: \.isExecutable)
            fields.append(
                (hasPrograms ? FieldTag.partsWithPrograms : FieldTag.parts, metadata.parts.encoded()))
        }
        if let boot { fields.append((FieldTag.boot, withUnsafeBytes(of: boot.littleEndian, Array.init))) }
        return fields
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
    /// Decodes a complete footer, from its magic number to the end of its trailer.
    ///
    /// Every length and count is checked against the length of the file before it is used, so that nothing is allocated
    /// based on untrusted values.
    ///
    /// - Parameter isDescription: Whether it describes an item whose content is not there yet.
    /// - Throws: ``ItemFormatError/damaged(_:)`` or ``ItemFormatError/newerVersion(_:)``.
    init(
        decoding bytes: UnsafeRawBufferPointer, trailer: Trailer, fileLength: Int64,
        isDescription: Bool = false
    ) throws(ItemFormatError) {
        let checked = UnsafeRawBufferPointer(rebasing: bytes.dropLast(16))
        guard Checksum.of(checked) == trailer.checksum else { throw .damaged(.footerChecksum) }
        guard trailer.version <= Self.version else { throw .newerVersion(trailer.version) }
        guard trailer.version == Self.version else { throw .damaged(.footerFields) }
        guard trailer.storedBytes == UInt64(fileLength) else { throw .damaged(.footerFields) }

        var reader = ByteReader(bytes.slice(0..<bytes.count - Trailer.length), of: .footerFields)
        guard try reader.take(UInt32.self) == Self.frameMagic,
            try reader.take(UInt32.self) == UInt32(bytes.count - 8)
        else { throw .damaged(.footerFields) }
        let head = Head(
            encoding: try reader.take(), intent: try reader.take(), area: try reader.take(),
            backup: try reader.take(), priority: Float(bitPattern: try reader.take()),
            contentBytes: try reader.take(), contentChecksum: try reader.take(), storedAt: try reader.take(),
            expiresAt: try reader.take(), chunkLength: try reader.take(), chunkCount: try reader.take())
        let fields = try Fields(&reader)

        metadata = try Self.metadata(head, fields)
        encoding = head.encoding
        contentBytes = head.contentBytes
        chunks = fields.chunks
        storedBytes = fileLength
        boot = fields.boot
        try checkChunkTable(claimed: head, chunksLength: fileLength - Int64(bytes.count))
        guard metadata.parts.isEmpty || isDescription || metadata.parts.contentBytes == contentBytes else {
            throw .damaged(.footerFields)
        }
    }

    private static func metadata(_ head: Head, _ fields: Fields) throws(ItemFormatError) -> ItemMetadata {
        do {
            let url = fields.url.map(URL.init(string:))
            guard url != .some(nil) else { throw ItemFormatError.unsuitableURL }
            let metadata = ItemMetadata(
                key: try ItemKey(fields.key),
                source: fields.source,
                intent: head.intent,
                destination: try destination(head, fields),
                validator: fields.validator,
                priority: head.priority,
                storedAt: head.storedAt,
                expiresAt: head.expiresAt == .max ? nil : head.expiresAt,
                attributes: fields.attributes, url: url ?? nil, parts: fields.parts)
            try metadata.validate()
            return metadata
        } catch {
            throw .damaged(.footerFields)
        }
    }

    private static func destination(_ head: Head, _ fields: Fields) throws -> Destination? {
        let folder = try fields.destinationFolder.map(FolderPath.init)
        if fields.hasNoDestination, fields.destinationName == nil, folder == nil { return nil }
        guard !fields.hasNoDestination,
            let destination = Destination(
                area: head.area, name: try FileName(fields.destinationName ?? ""), in: folder,
                backup: head.backup)
        else { throw ItemFormatError.damaged(.footerFields) }
        return destination
    }

    /// Checks the chunk table against the lengths of the file and the content.
    private func checkChunkTable(claimed head: Head, chunksLength: Int64) throws(ItemFormatError) {
        let total = chunks.reduce(Int64(0)) { $0 + Int64($1.storedBytes) }
        guard head.chunkLength == UInt32(ItemLimits.chunkBytes),
            (0...ItemLimits.contentBytes(storedBytes: storedBytes)).contains(contentBytes),
            head.chunkCount == UInt32(chunks.count),
            chunks.count == Self.chunkCount(contentBytes: contentBytes),
            total == chunksLength,
            contentChecksum == head.contentChecksum
        else { throw .damaged(.chunkTable) }

        for (index, chunk) in chunks.enumerated() {
            let range = contentRange(ofChunk: index)
            let content = range.upperBound - range.lowerBound
            let isPlausible =
                switch encoding {
                case .identity: Int64(chunk.storedBytes) == content
                case .lz4: Int64(chunk.storedBytes) <= content + Int64(LZ4Frame.overhead)
                }
            guard isPlausible else { throw .damaged(.chunkTable) }
        }
    }
}

/// The fixed-offset part of the footer, in the order of its fields.
private struct Head {
    let encoding: ItemEncoding
    let intent: Intent
    let area: Area
    let backup: BackupPolicy
    let priority: Float
    let contentBytes: Int64
    let contentChecksum: UInt64
    let storedAt: Int64
    let expiresAt: Int64
    let chunkLength: UInt32
    let chunkCount: UInt32
}

/// The tagged part of the footer.
private struct Fields {
    var key = ""
    var source = ""
    var destinationName: String?
    var destinationFolder: String?
    var validator = Validator()
    var url: String?
    var attributes: [UInt8] = []
    var chunks: [Chunk] = []
    var boot: UInt64?
    var hasNoDestination = false
    var parts: [BundlePart] = []

    init(_ reader: inout ByteReader) throws(ItemFormatError) {
        // Duplicate fields are invalid: there is no telling which one is right.
        var seen: UInt16 = 0
        while reader.count > 0 {
            let tag = try reader.take(UInt16.self)
            guard try reader.take(UInt16.self) == 0 else { throw .damaged(.footerFields) }
            let value = try reader.take(count: Int(clamping: try reader.take(UInt32.self)))
            let bit = FieldTag.bit(of: tag) ?? 0
            guard seen & bit == 0 else { throw .damaged(.footerFields) }
            seen |= bit

            switch tag {
            case FieldTag.key: key = try Self.text(value)
            case FieldTag.source: source = try Self.text(value)
            case FieldTag.destinationName: destinationName = try Self.text(value)
            case FieldTag.destinationFolder: destinationFolder = try Self.text(value)
            case FieldTag.entityTag: validator.entityTag = try Self.text(value)
            case FieldTag.lastModified: validator.lastModified = try Self.text(value)
            case FieldTag.url: url = try Self.text(value)
            case FieldTag.attributes:
                attributes = [UInt8](value)
            case FieldTag.boot:
                var number = ByteReader(value, of: .footerFields)
                boot = try number.take(UInt64.self)
                guard number.count == 0 else { throw .damaged(.footerFields) }
            case FieldTag.noDestination:
                guard value.count == 0 else { throw .damaged(.footerFields) }
                hasNoDestination = true
            case FieldTag.parts, FieldTag.partsWithPrograms:
                parts = try [BundlePart](decoding: value)
                guard !parts.isEmpty, parts.contains(where: \.isExecutable) == (tag != FieldTag.parts) else {
                    throw .damaged(.footerFields)
                }
            case FieldTag.chunkTable:
                var table = ByteReader(value, of: .chunkTable)
                chunks.reserveCapacity(value.count / ItemFooter.bytesPerChunk)
                while table.count > 0 {
                    chunks.append(Chunk(storedBytes: try table.take(), checksum: try table.take()))
                }
            default:
                guard tag & FieldTag.critical == 0 else { throw .newerVersion(ItemFooter.version + 1) }
            }
        }
    }

    private static func text(_ value: UnsafeRawBufferPointer) throws(ItemFormatError) -> String {
        guard let text = String(validating: value, as: UTF8.self) else { throw .damaged(.footerFields) }
        return text
    }
}

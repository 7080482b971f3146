internal import StorageAreas

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

        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.dropLast(Trailer.length)))
        guard reader.take(UInt32.self) == Self.frameMagic,
            reader.take(UInt32.self) == UInt32(bytes.count - 8),
            let head = Head(&reader)
        else { throw .damaged(.footerFields) }
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

    init?(_ reader: inout ByteReader) {
        guard let encoding = reader.take(UInt8.self).flatMap(ItemEncoding.init),
            let intent = reader.take(UInt8.self).flatMap(Intent.init),
            let area = reader.take(UInt8.self).flatMap(Area.init),
            let backup = reader.take(UInt8.self).flatMap(BackupPolicy.init),
            let priority = reader.take(UInt32.self).map(Float.init(bitPattern:)),
            let contentLength = reader.take(Int64.self),
            let contentChecksum = reader.take(UInt64.self),
            let storedAt = reader.take(Int64.self),
            let expiresAt = reader.take(Int64.self),
            let chunkLength = reader.take(UInt32.self),
            let chunkCount = reader.take(UInt32.self)
        else { return nil }
        self.encoding = encoding
        self.intent = intent
        self.area = area
        self.backup = backup
        self.priority = priority
        self.contentLength = contentLength
        self.contentChecksum = contentChecksum
        self.storedAt = storedAt
        self.expiresAt = expiresAt
        self.chunkLength = chunkLength
        self.chunkCount = chunkCount
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
            guard let tag = reader.take(UInt16.self), reader.take(UInt16.self) == 0,
                let length = reader.take(UInt32.self), let value = reader.take(count: Int(clamping: length))
            else { throw .damaged(.footerFields) }
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
                var number = ByteReader(value)
                boot = number.take(UInt64.self)
                guard boot != nil, number.count == 0 else { throw .damaged(.footerFields) }
            case FieldTag.chunkTable:
                var table = ByteReader(value)
                chunks.reserveCapacity(value.count / ItemFooter.bytesPerChunk)
                while let storedLength = table.take(UInt32.self) {
                    guard let checksum = table.take(UInt64.self) else { throw .damaged(.chunkTable) }
                    chunks.append(Chunk(storedLength: storedLength, checksum: checksum))
                }
                guard table.count == 0 else { throw .damaged(.chunkTable) }
            default:
                guard tag & FieldTag.critical == 0 else { throw .newerVersion(ItemFooter.version + 1) }
            }
        }
    }
}

internal import StorageAreas

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

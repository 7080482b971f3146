internal import PrefetchItemFormat

/// An item put together by hand from the description of the format, so that a test can write what
/// the writer never would. Its checksums are right unless a test says otherwise.
package struct ForgedItem {
    package struct Field {
        package var tag: UInt16
        package var reserved: UInt16
        /// Says so, whatever the value's length is.
        package var claimedLength: UInt32?
        package var value: [UInt8]

        package init(tag: UInt16, reserved: UInt16 = 0, claimedLength: UInt32? = nil, value: [UInt8]) {
            self.tag = tag
            self.reserved = reserved
            self.claimedLength = claimedLength
            self.value = value
        }
    }

    /// The chunks as they lie in the file.
    package var stored: [UInt8]
    package var frameMagic: UInt32 = 0x184D_2A5C
    package var encoding: UInt8 = 2
    package var intent: UInt8 = 1
    package var area: UInt8 = 1
    package var backup: UInt8 = 1
    package var priority: Float = 0
    package var contentBytes: Int64
    package var contentChecksum: UInt64
    package var storedAt: Int64 = 0
    package var expiresAt: Int64 = .max
    package var chunkLength: UInt32 = 1 << 20
    package var chunkCount: UInt32
    package var fields: [Field]
    package var version: UInt16 = 1
    /// What the lengths in the file say in place of the truth.
    package var claimedFrameLength: UInt32?
    package var claimedStoredLength: UInt64?
    package var claimedFooterLength: UInt32?

    /// An identity item of one chunk.
    package init(content: [UInt8]) {
        let checksum = content.withUnsafeBytes(Checksum.of)
        stored = content
        contentBytes = Int64(content.count)
        chunkCount = 1
        contentChecksum = littleEndian(checksum).withUnsafeBytes(Checksum.of)
        fields = [
            Field(tag: 1, value: Array("key".utf8)),
            Field(tag: 3, value: Array("name.txt".utf8)),
            Field(tag: 7, value: littleEndian(UInt32(content.count)) + littleEndian(checksum)),
        ]
    }

    /// Replaces the value of a field.
    package mutating func set(_ tag: UInt16, to value: [UInt8]) {
        for index in fields.indices where fields[index].tag == tag { fields[index].value = value }
    }

    /// Replaces the chunk table, and the figures that must go with it.
    package mutating func setChunks(_ chunks: [(storedBytes: UInt32, checksum: UInt64)]) {
        set(7, to: chunks.flatMap { littleEndian($0.storedBytes) + littleEndian($0.checksum) })
        chunkCount = UInt32(chunks.count)
        contentChecksum = chunks.flatMap { littleEndian($0.checksum) }.withUnsafeBytes(Checksum.of)
    }

    package var image: [UInt8] { stored + footer }

    private var footer: [UInt8] {
        var head: [UInt8] = [encoding, intent, area, backup]
        head += littleEndian(priority.bitPattern) + littleEndian(contentBytes)
        head += littleEndian(contentChecksum) + littleEndian(storedAt) + littleEndian(expiresAt)
        head += littleEndian(chunkLength) + littleEndian(chunkCount)

        var body: [UInt8] = []
        for field in fields {
            body += littleEndian(field.tag) + littleEndian(field.reserved)
            body += littleEndian(field.claimedLength ?? UInt32(field.value.count)) + field.value
        }

        let length = 8 + head.count + body.count + 32
        var bytes = littleEndian(frameMagic) + littleEndian(claimedFrameLength ?? UInt32(length - 8))
        bytes += head + body
        bytes += littleEndian(claimedStoredLength ?? UInt64(stored.count + length))
        bytes += littleEndian(claimedFooterLength ?? UInt32(length))
        bytes += littleEndian(version) + [0, 0]
        bytes += littleEndian(bytes.withUnsafeBytes(Checksum.of))
        return bytes + Array("PfCacheI".utf8)
    }
}

/// The bytes of an integer as the format has them.
package func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) }
}

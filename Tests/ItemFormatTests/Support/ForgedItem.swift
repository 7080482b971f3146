import ItemFormat

/// An item put together by hand from the description of the format, so that a test can write what
/// the writer never would. Its checksums are right unless a test says otherwise.
struct ForgedItem {
    struct Field {
        var tag: UInt16
        var reserved: UInt16 = 0
        /// Says so, whatever the value's length is.
        var claimedLength: UInt32?
        var value: [UInt8]
    }

    /// The chunks as they lie in the file.
    var stored: [UInt8]
    var frameMagic: UInt32 = 0x184D_2A5C
    var encoding: UInt8 = 2
    var intent: UInt8 = 1
    var area: UInt8 = 1
    var backup: UInt8 = 1
    var priority: Float = 0
    var contentLength: Int64
    var contentChecksum: UInt64
    var storedAt: Int64 = 0
    var expiresAt: Int64 = .max
    var chunkLength: UInt32 = 1 << 20
    var chunkCount: UInt32
    var fields: [Field]
    var version: UInt16 = 1
    /// What the lengths in the file say in place of the truth.
    var claimedFrameLength: UInt32?
    var claimedStoredLength: UInt64?
    var claimedFooterLength: UInt32?

    /// An identity item of one chunk.
    init(content: [UInt8]) {
        let checksum = content.withUnsafeBytes(Checksum.of)
        stored = content
        contentLength = Int64(content.count)
        chunkCount = 1
        contentChecksum = littleEndian(checksum).withUnsafeBytes(Checksum.of)
        fields = [
            Field(tag: 1, value: Array("key".utf8)),
            Field(tag: 3, value: Array("name.txt".utf8)),
            Field(tag: 7, value: littleEndian(UInt32(content.count)) + littleEndian(checksum)),
        ]
    }

    /// Replaces the value of a field.
    mutating func set(_ tag: UInt16, to value: [UInt8]) {
        for index in fields.indices where fields[index].tag == tag { fields[index].value = value }
    }

    /// Replaces the chunk table, and the figures that must go with it.
    mutating func setChunks(_ chunks: [(storedLength: UInt32, checksum: UInt64)]) {
        set(7, to: chunks.flatMap { littleEndian($0.storedLength) + littleEndian($0.checksum) })
        chunkCount = UInt32(chunks.count)
        contentChecksum = chunks.flatMap { littleEndian($0.checksum) }.withUnsafeBytes(Checksum.of)
    }

    var image: [UInt8] { stored + footer }

    private var footer: [UInt8] {
        var head: [UInt8] = [encoding, intent, area, backup]
        head += littleEndian(priority.bitPattern) + littleEndian(contentLength)
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
func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) }
}

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
    init(_ bytes: UnsafeRawBufferPointer) throws(ItemFormatError) {
        var reader = ByteReader(bytes)
        guard let storedLength = reader.take(UInt64.self), let footerLength = reader.take(UInt32.self),
            let version = reader.take(UInt16.self), let reserved = reader.take(UInt16.self),
            let checksum = reader.take(UInt64.self), reader.take(UInt64.self) == Self.magic
        else { throw .damaged(.trailer) }
        self.storedLength = storedLength
        self.footerLength = footerLength
        self.version = version
        self.reserved = reserved
        self.checksum = checksum
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

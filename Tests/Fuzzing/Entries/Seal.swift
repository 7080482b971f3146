import ItemFormatTestSupport
import PrefetchItemFormat

/// Makes right what no mutation would ever hit upon, so that what lies behind it is reached: lengths, magic numbers
/// and checksums.
enum Seal {
    /// Reads the first byte as a wish: even for the bytes as they are, odd for sealed ones.
    static func wished(_ input: [UInt8], _ seal: ([UInt8]) -> [UInt8]) -> [UInt8] {
        guard let wish = input.first else { return [] }
        let bytes = Array(input.dropFirst())
        return wish & 1 == 1 ? seal(bytes) : bytes
    }

    /// The trailer of an item. Its footer is as long as it claims where it can be, and else takes the whole file.
    static func item(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 40 else { return bytes }
        var bytes = bytes
        let trailer = bytes.count - 32
        let claimed = bytes[trailer + 8..<trailer + 12].reversed().reduce(0) { $0 << 8 | Int($1) }
        let length = (40...bytes.count).contains(claimed) ? claimed : bytes.count
        let footer = bytes.count - length
        bytes.replace(at: footer, with: littleEndian(0x184D_2A5C as UInt32))
        bytes.replace(at: footer + 4, with: littleEndian(UInt32(length - 8)))
        bytes.replace(at: trailer, with: littleEndian(UInt64(bytes.count)))
        bytes.replace(at: trailer + 8, with: littleEndian(UInt32(length)))
        bytes.replace(at: trailer + 24, with: Array("PfCacheI".utf8))
        let checksum = bytes[footer..<trailer + 16].withUnsafeBytes(Checksum.of)
        bytes.replace(at: trailer + 16, with: littleEndian(checksum))
        return bytes
    }

    /// The beginning of a journal, its description and its records.
    static func journal(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 56 + 40 else { return bytes }
        var bytes = bytes
        bytes.replace(at: 0, with: Array("PfCacheP".utf8))
        let claimed = bytes[28..<32].reversed().reduce(0) { $0 << 8 | Int($1) }
        let length = (40...bytes.count - 56).contains(claimed) ? claimed : bytes.count - 56
        bytes.replace(at: 28, with: littleEndian(UInt32(length)))
        bytes.replace(at: 48, with: littleEndian(bytes[24..<48].withUnsafeBytes(Checksum.of)))
        bytes.replace(at: 56, with: item(Array(bytes[56..<56 + length])))
        for start in stride(from: 56 + length, through: bytes.count - 24, by: 24) {
            let record = bytes[32..<40] + bytes[start..<start + 16]
            bytes.replace(at: start + 16, with: littleEndian(Array(record).withUnsafeBytes(Checksum.of)))
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func replace(at offset: Int, with bytes: [UInt8]) {
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
}

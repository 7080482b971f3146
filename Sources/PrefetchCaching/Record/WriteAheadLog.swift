/// The content of a write-ahead log of SQLite (sqlite.org/fileformat.html#the_write_ahead_log).
struct WriteAheadLog {
    static let headerLength = 32
    private static let frameHeaderLength = 24
    private static let magic: UInt32 = 0x377F_0682

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Copies all committed pages into the content of the database, as SQLite does when it recovers the log: up to the
    /// first frame that is damaged or from another generation of the log. Idempotent.
    func apply(to content: inout [UInt8]) {
        guard bytes.count >= Self.headerLength, word(at: 0) & ~1 == Self.magic else { return }
        let pageSize = Int(word(at: 8))
        guard (512...65536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return }
        var sum = Sum(isBigEndian: word(at: 0) & 1 == 1)
        sum.add(bytes[..<24])
        guard sum.isEqual(word(at: 24), word(at: 28)) else { return }

        var pages: [Int: Int] = [:]
        var frame = Self.headerLength
        while frame + Self.frameHeaderLength + pageSize <= bytes.count {
            let page = frame + Self.frameHeaderLength
            let (number, length) = (Int(word(at: frame)), Int(word(at: frame + 4)))
            guard number > 0, word(at: frame + 8) == word(at: 16), word(at: frame + 12) == word(at: 20)
            else { break }
            sum.add(bytes[frame..<frame + 8])
            sum.add(bytes[page..<page + pageSize])
            guard sum.isEqual(word(at: frame + 16), word(at: frame + 20)) else { break }
            pages[number] = page
            // The last frame of a transaction has the length of the database after it, in pages.
            if length > 0 {
                commit(pages, pageSize, length, to: &content)
                pages = [:]
            }
            frame = page + pageSize
        }
    }

    private func commit(_ pages: [Int: Int], _ pageSize: Int, _ length: Int, to content: inout [UInt8]) {
        // Every page beyond the current end is in the log.
        let end = min(length * pageSize, max(content.count, (pages.keys.max() ?? 0) * pageSize))
        if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
        content.removeLast(content.count - end)
        for (number, page) in pages where number * pageSize <= end {
            content.replaceSubrange(
                (number - 1) * pageSize..<number * pageSize, with: bytes[page..<page + pageSize])
        }
    }

    /// A big-endian word.
    private func word(at index: Int) -> UInt32 {
        bytes[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private struct Sum {
        let isBigEndian: Bool
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        init(isBigEndian: Bool) {
            self.isBigEndian = isBigEndian
        }

        func isEqual(_ first: UInt32, _ second: UInt32) -> Bool {
            self.first == first && self.second == second
        }

        mutating func add(_ bytes: ArraySlice<UInt8>) {
            bytes.withUnsafeBytes { bytes in
                for offset in stride(from: 0, to: bytes.count, by: 8) {
                    first &+= word(bytes, offset) &+ second
                    second &+= word(bytes, offset + 4) &+ first
                }
            }
        }

        private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }
    }
}

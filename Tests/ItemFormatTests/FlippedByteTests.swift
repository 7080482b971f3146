import PrefetchItemFormat
import Testing

/// One wrong byte anywhere, and the item is a miss.
@Suite struct FlippedByteTests {
    private static let flips: [UInt8] = [0x01, 0x80, 0xFF]

    /// Calls `body` with the file after each flip of each of its bytes in `range`.
    private func forEachFlip(
        of image: [UInt8], in range: Range<Int>, _ body: (ItemFile, Int) throws -> Void
    ) throws {
        try withItemFile { file in
            var image = image
            for position in range {
                for flip in Self.flips {
                    image[position] ^= flip
                    try file.replace(with: image)
                    try body(file, position)
                    image[position] ^= flip
                }
            }
        }
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func everyByteOfTheFooterCounts(encoding: ItemEncoding) throws {
        let image = try image(of: Sample.text(100), .full, encoding: .forced(encoding))
        let footerLength = try image.count - read(image).footer.chunks.reduce(0) { $0 + Int($1.storedBytes) }
        try forEachFlip(of: image, in: image.count - footerLength..<image.count) { file, position in
            let error = try file.failure()
            #expect(error == .damaged(.footerChecksum) || error == .damaged(.trailer), "byte \(position)")
        }
    }

    @Test func everyByteOfAnIdentityChunkCounts() throws {
        let image = try image(of: Sample.text(1000), .plain(), encoding: .forced(.identity))
        try forEachFlip(of: image, in: 0..<1000) { file, position in
            let error = try file.failure()
            #expect(error == .damaged(.chunkContent), "byte \(position)")
        }
    }

    /// Two LZ4 streams may stand for the same bytes, and the frame's own checksum, its last four
    /// bytes, is for other readers. What must not come back is another content.
    @Test func noByteOfAFrameChangesTheContent() throws {
        let content = Sample.text(1000)
        let image = try image(of: content, .plain(), encoding: .forced(.lz4))
        let frameLength = try Int(read(image).footer.chunks[0].storedBytes)
        var misses = 0
        try forEachFlip(of: image, in: 0..<frameLength) { file, position in
            if let error = try file.failure() {
                #expect(error == .damaged(.chunkContent))
                misses += 1
            } else {
                #expect(try file.read().content == content, "byte \(position)")
            }
        }
        #expect(misses > (frameLength - 4) * Self.flips.count * 9 / 10)
    }

    /// Chunks are checked one by one: a damaged one does not spoil what lies in the others.
    @Test func aDamagedChunkIsFoundWhenItIsRead() throws {
        let content = Sample.noise(3 * Sample.mebibyte)
        var image = try image(of: content, .plain())
        image[Sample.mebibyte + 5] ^= 1
        try withItemFile { file in
            try file.replace(with: image)
            let reader = try file.reader(parallelism: 2)
            let chunk = Int64(Sample.mebibyte)
            #expect(try areSame(reader.bytes(0..<chunk), Array(content[..<Sample.mebibyte])))
            #expect(try reader.bytes(2 * chunk..<2 * chunk + 10) == Array(content[2 << 20..<(2 << 20) + 10]))
            #expect(throws: ItemFormatError.damaged(.chunkContent)) { try reader.bytes(chunk..<chunk + 1) }
            #expect(throws: ItemFormatError.damaged(.chunkContent)) { try reader.bytes(0..<3 * chunk) }
        }
    }
}

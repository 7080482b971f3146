import ItemFormatTestSupport
import PrefetchFileSystem
import PrefetchItemFormat
import SystemPackage
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

@Suite struct TruncationTests {
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func anItemCutShortIsAMiss(encoding: ItemEncoding) throws {
        let image = try image(of: Sample.text(300), .full, encoding: .forced(encoding))
        try withItemFile { file in
            for length in 0..<image.count {
                try file.replace(with: Array(image.prefix(length)))
                let error = try file.failure()
                #expect(error == (length < 32 ? .purged : .damaged(.trailer)), "\(length) bytes")
            }
            // Negative control: it is the cut that made the difference.
            try file.replace(with: image)
            #expect(try file.failure() == nil)
        }
    }

    /// A power cut may leave the length and lose the bytes.
    @Test(arguments: [32, 1000, 300_000])
    func zeroesAreDamaged(length: Int) throws {
        #expect(try failure(reading: [UInt8](repeating: 0, count: length)) == .damaged(.trailer))
    }

    @Test(arguments: [1, 31, 32, 33, 4096, 300_000])
    func anythingBehindTheItemIsDamage(length: Int) throws {
        let image = try image(of: Sample.text(300), .full)
        #expect(try failure(reading: image + Sample.noise(length)) == .damaged(.trailer))
    }

    @Test func twoItemsInOneFileAreDamaged() throws {
        let image = try image(of: Sample.text(300), .full)
        #expect(try failure(reading: image + image) == .damaged(.footerFields))
    }

    @Test(arguments: [(0, ItemFormatError.purged), (1000, .damaged(.chunkContent))])
    func aFileThatShrinksUnderTheReaderIsAMiss(length: Int, error: ItemFormatError) throws {
        try withItemFile { file in
            try file.write(Sample.noise(Sample.mebibyte), .plain())
            let reader = try file.reader()
            var buffer = [UInt8](repeating: 0, count: Sample.mebibyte)
            try buffer.withUnsafeMutableBytes { buffer in
                try reader.read(0..<Int64(buffer.count), into: buffer)
                try file.replace(with: Sample.noise(length))
                // What the buffer holds from before must not pass for what was read.
                #expect(throws: error) {
                    try reader.read(0..<Int64(buffer.count), into: buffer)
                }
            }
        }
    }
}

/// A chunk never yields more than its item says, whatever is in its frame.
@Suite struct DecompressionBoundTests {
    @Test(arguments: [10, 999, 1001, 100_000])
    func aFrameOfAnotherLengthThanItsChunkIsDamaged(claimed: Int64) throws {
        try withItemFile { file in
            try file.write([UInt8](repeating: 0, count: 1000), .plain(), encoding: .forced(.lz4))
            let chunk = try file.reader().footer.chunks[0]
            let frame = try file.image().prefix(Int(chunk.storedBytes))

            var forged = ForgedItem(content: Array(frame))
            forged.encoding = 1
            forged.setChunks([(chunk.storedBytes, chunk.checksum)])
            forged.contentBytes = 1000
            try file.replace(with: forged.image)
            #expect(try file.failure() == nil, "an honest forgery is read")

            forged.contentBytes = claimed
            // Less than the frame can hold is found in the chunk table already.
            let damage: ItemFormatError.Damage =
                claimed + 27 < Int64(frame.count) ? .chunkTable : .chunkContent
            try file.replace(with: forged.image)
            #expect(try file.failure() == .damaged(damage))
        }
    }

    /// Frames that are none: nothing at all, a skippable frame, half a frame, two frames.
    @Test func whatIsNotOneFrameIsDamaged() throws {
        let content = [UInt8](repeating: 7, count: 1000)
        let whole = try image(of: content, .plain(), encoding: .forced(.lz4))
        let footer = try read(whole).footer
        let frame = Array(whole.prefix(Int(footer.chunks[0].storedBytes)))
        let skippable = littleEndian(0x184D_2A50 as UInt32) + littleEndian(4 as UInt32) + [1, 2, 3, 4]

        for stored in [[], skippable, Array(frame.dropLast()), frame + frame, frame + [0], skippable + frame]
        {
            var forged = ForgedItem(content: stored)
            forged.encoding = 1
            forged.contentBytes = 1000
            forged.setChunks([(UInt32(stored.count), footer.chunks[0].checksum)])
            #expect(try failure(reading: forged.image) == .damaged(.chunkContent))
        }
    }
}

/// What the volume says is passed on; it is never taken for a damaged item.
@Suite struct FileSystemErrorTests {
    @Test(arguments: [1000, 3 * Sample.mebibyte])
    func aFullVolumeIsReportedByTheWriter(length: Int) throws {
        try withItemFile { file in
            file.fileSystem.fail(with: .noSpace)
            #expect(throws: ItemFormatError.fileSystem(FileSystemError("write", errno: .noSpace))) {
                try file.write(Sample.text(length), .plain())
            }
        }
    }

    @Test func anInputOutputErrorIsReportedByTheOpeningReader() throws {
        try withItemFile { file in
            try file.write(Sample.text(1000), .plain())
            file.fileSystem.fail(with: .ioError)
            #expect(throws: ItemFormatError.fileSystem(FileSystemError("read", errno: .ioError))) {
                try file.reader()
            }
        }
    }

    @Test func anInputOutputErrorIsReportedByALaterRead() throws {
        try withItemFile { file in
            try file.write(Sample.noise(Sample.mebibyte), .plain())
            let reader = try file.reader()
            file.fileSystem.fail(with: .ioError)
            #expect(throws: ItemFormatError.fileSystem(FileSystemError("read", errno: .ioError))) {
                try reader.bytes(0..<10)
            }
        }
    }
}

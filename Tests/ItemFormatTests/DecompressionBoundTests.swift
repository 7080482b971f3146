import ItemFormatTestSupport
import PrefetchItemFormat
import Testing

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

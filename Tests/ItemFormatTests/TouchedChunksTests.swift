import PrefetchItemFormat
import Testing

/// A range costs the chunks that it touches, and no others.
@Suite struct TouchedChunksTests {
    private let chunk = Int64(Sample.mebibyte)

    @Test(arguments: RangeReadTests.encodings)
    func aRangeWithinAChunkReadsThatChunk(encoding: ItemEncoding) throws {
        try expectReads([2..<3], for: 2 * chunk + 10..<2 * chunk + 20, encoding, parallelism: 4)
    }

    @Test(arguments: RangeReadTests.encodings)
    func aRangeUpToAnEdgeDoesNotTouchTheNextChunk(encoding: ItemEncoding) throws {
        try expectReads([1..<2], for: chunk..<2 * chunk, encoding, parallelism: 4)
    }

    @Test(arguments: RangeReadTests.encodings)
    func neighbouringChunksAreReadTogetherAsFarAsParallelismGoes(encoding: ItemEncoding) throws {
        try expectReads([1..<3], for: 2 * chunk - 1..<2 * chunk + 1, encoding, parallelism: 2)
        try expectReads([1..<2, 2..<3], for: 2 * chunk - 1..<2 * chunk + 1, encoding, parallelism: 1)
    }

    @Test(arguments: RangeReadTests.encodings)
    func anEmptyRangeReadsNothing(encoding: ItemEncoding) throws {
        try expectReads([], for: chunk..<chunk, encoding, parallelism: 4)
    }

    private func expectReads(
        _ batches: [Range<Int>], for range: Range<Int64>, _ encoding: ItemEncoding, parallelism: Int
    ) throws {
        try withItemFile { file in
            try file.write(Sample.text(4 * Sample.mebibyte), .plain(), encoding: .forced(encoding))
            let reader = try file.reader(parallelism: parallelism)
            file.fileSystem.forget()
            _ = try reader.bytes(range)

            let lengths = reader.footer.chunks.map { Int($0.storedBytes) }
            let expected = batches.map { batch in
                RecordingFileSystem.Call.read(
                    offset: Int64(lengths[..<batch.lowerBound].reduce(0, +)),
                    length: lengths[batch].reduce(0, +))
            }
            #expect(file.fileSystem.calls == expected)
        }
    }
}

import FileSystemTestSupport
import ItemFormatTestSupport
import PrefetchItemFormat
import Testing

@Suite struct RoundTripTests {
    static let lengths = [
        0, 1, Sample.mebibyte - 1, Sample.mebibyte, Sample.mebibyte + 1, 7 * Sample.mebibyte / 2,
    ]
    static let choices: [EncodingChoice] = [.automatic, .forced(.lz4), .forced(.identity)]

    @Test(arguments: lengths, choices) func contentComesBackAsItWas(length: Int, choice: EncodingChoice)
        throws
    {
        for content in [Sample.text(length), Sample.noise(length)] {
            try expectRoundTrip(of: content, choice)
        }
    }

    private func expectRoundTrip(of content: [UInt8], _ choice: EncodingChoice) throws {
        try withItemFile { file in
            let summary = try file.write(content, .plain(), encoding: choice, parallelism: 2)
            if case .forced(let encoding) = choice { #expect(summary.encoding == encoding) }
            #expect(summary.contentBytes == Int64(content.count))
            #expect(try summary.storedBytes == Int64(file.image().count))

            for parallelism in [1, 4] {
                let item = try file.read(parallelism: parallelism)
                #expect(areSame(item.content, content))
                #expect(item.footer.contentBytes == summary.contentBytes)
                #expect(item.footer.storedBytes == summary.storedBytes)
                #expect(item.footer.encoding == summary.encoding)
            }
        }
    }

    @Test(arguments: lengths)
    func streamingHandsOutTheContentInOrder(length: Int) throws {
        let content = Sample.text(length)
        try withItemFile { file in
            try file.write(content, .plain())
            var streamed: [UInt8] = []
            try file.reader(parallelism: 2).stream(0..<Int64(length)) { streamed += Array($0) }
            #expect(areSame(streamed, content))
        }
    }
}

/// How content is cut on its way in must not show in the file.
@Suite struct PiecesTests {
    private let content = Sample.text(7 * Sample.mebibyte / 2)

    @Test(arguments: [
        [1, 7, 4095, 65_537, 300_001], [Sample.mebibyte - 1, 2], [Sample.mebibyte], [1_500_000],
        [3 * Sample.mebibyte, 0, 1],
    ])
    func piecesOfAnySizeMakeTheSameFile(sizes: [Int]) throws {
        let whole = try image(of: content, .plain())
        let pieced = try withItemFile { file in
            let writer = try file.writer(.plain(), parallelism: 2)
            var done = 0
            var turn = 0
            while done < content.count {
                let end = min(done + sizes[turn % sizes.count], content.count)
                try content[done..<end].withUnsafeBytes { try writer.append($0) }
                done = end
                turn += 1
                #expect(writer.contentBytes == Int64(done))
            }
            _ = try writer.finish()
            #expect(writer.contentBytes == Int64(content.count))
            return try file.image()
        }
        #expect(areSame(pieced, whole))
    }

    @Test(arguments: [EncodingChoice.automatic, .forced(.lz4), .forced(.identity)])
    func parallelismDoesNotShowInTheFile(choice: EncodingChoice) throws {
        let one = try image(of: content, .plain(), encoding: choice, parallelism: 1)
        let four = try image(of: content, .plain(), encoding: choice, parallelism: 4)
        #expect(areSame(one, four))
    }

    @Test func theLengthIsRightWhenTheEndWasHeldBack() throws {
        try withItemFile { file in
            let writer = try file.writer(.plain())
            try [UInt8](repeating: 1, count: 100).withUnsafeBytes { try writer.append($0) }
            #expect(try writer.finish().contentBytes == 100)
            #expect(writer.contentBytes == 100)
        }
    }
}

@Suite struct RangeReadTests {
    static let encodings: [ItemEncoding] = [.lz4, .identity]

    @Test(arguments: encodings, [1, 4])
    func everyRangeAroundTheEdgesOfChunksIsThatSlice(encoding: ItemEncoding, parallelism: Int) throws {
        let chunk = Sample.mebibyte
        let content = Sample.text(3 * chunk + chunk / 2)
        let edges = [0, chunk, 2 * chunk, 3 * chunk, content.count]
        let bounds = Set(edges.flatMap { [$0 - 1, $0, $0 + 1] }).filter((0...content.count).contains).sorted()
        try withItemFile { file in
            try file.write(content, .plain(), encoding: .forced(encoding))
            let reader = try file.reader(parallelism: parallelism)
            for lower in bounds {
                for upper in bounds where upper >= lower {
                    try expect(lower..<upper, of: content, from: reader)
                }
            }
        }
    }

    @Test(arguments: encodings, [20_000, 2_500_000])
    func anyRangeIsThatSlice(encoding: ItemEncoding, length: Int) throws {
        let content = Sample.text(length)
        var generator = SeededGenerator(seed: 42)
        try withItemFile { file in
            try file.write(content, .plain(), encoding: .forced(encoding))
            let reader = try file.reader(parallelism: 2)
            for _ in 0..<100 {
                let bounds = (0..<2).map { _ in Int.random(in: 0...length, using: &generator) }.sorted()
                try expect(bounds[0]..<bounds[1], of: content, from: reader)
            }
        }
    }

    private func expect(_ range: Range<Int>, of content: [UInt8], from reader: ItemReader) throws {
        let slice = Array(content[range])
        let range = Int64(range.lowerBound)..<Int64(range.upperBound)
        #expect(try areSame(reader.bytes(range), slice), "\(range) read")

        var streamed: [UInt8] = []
        try reader.stream(range) { streamed += Array($0) }
        #expect(areSame(streamed, slice), "\(range) streamed")
    }

    @Test(arguments: [0..<1001, -1..<10, 1000..<1001, 1001..<1001, Int64.max - 1..<Int64.max, -5 ..< -5])
    func aRangeThatIsNotWithinTheContentIsRefused(range: Range<Int64>) throws {
        try withItemFile { file in
            try file.write(Sample.text(1000), .plain())
            let reader = try file.reader()
            let error = ItemFormatError.rangeOutOfBounds(range, contentBytes: 1000)
            #expect(throws: error) { try reader.bytes(range) }
            #expect(throws: error) { try reader.stream(range) { _ in Issue.record("something came") } }
        }
    }

    @Test func anEmptyRangeWithinTheContentIsNoBytes() throws {
        try withItemFile { file in
            try file.write(Sample.text(1000), .plain())
            let reader = try file.reader()
            for position in [0, 500, 1000] as [Int64] {
                #expect(try reader.bytes(position..<position).isEmpty)
            }
        }
    }
}

/// A range costs the chunks that it touches, and no others.
@Suite struct TouchedChunksTests {
    private static let chunk = Int64(Sample.mebibyte)

    /// A range, and the chunks that are read of it together, which is as many as are worked on at a time.
    private static let cases: [(range: Range<Int64>, parallelism: Int, batches: [Range<Int>])] = [
        (2 * chunk + 10..<2 * chunk + 20, 4, [2..<3]),
        (chunk..<2 * chunk, 4, [1..<2]),
        (2 * chunk - 1..<2 * chunk + 1, 2, [1..<3]),
        (2 * chunk - 1..<2 * chunk + 1, 1, [1..<2, 2..<3]),
        (chunk..<chunk, 4, []),
    ]

    @Test(arguments: RangeReadTests.encodings, cases.indices)
    func onlyTheChunksOfARangeAreRead(encoding: ItemEncoding, index: Int) throws {
        let (range, parallelism, batches) = Self.cases[index]
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

@Suite struct ContentChecksumTests {
    @Test(arguments: RoundTripTests.lengths)
    func piecesOfAnySizeGiveTheChecksumOfTheFooter(length: Int) throws {
        let content = Sample.noise(length)
        let expected = try read(image(of: content, .plain())).footer.contentChecksum
        for sizes in [[length + 1], [1, 65_537, 999_983], [Sample.mebibyte], [Sample.mebibyte - 1, 3]] {
            #expect(checksum(of: content, pieces: sizes) == expected)
        }
    }

    @Test func theEncodingDoesNotMatter() throws {
        let content = Sample.text(Sample.mebibyte + 100)
        let checksums = try [ItemEncoding.lz4, .identity].map { encoding in
            try read(image(of: content, .plain(), encoding: .forced(encoding))).footer.contentChecksum
        }
        #expect(checksums[0] == checksums[1])
    }

    /// Negative control: a sum that ignores what it is fed would pass the tests above.
    @Test(arguments: [0, Sample.mebibyte - 1, Sample.mebibyte, Sample.mebibyte + 99])
    func everyByteCounts(position: Int) {
        var content = Sample.noise(Sample.mebibyte + 100)
        let before = checksum(of: content, pieces: [content.count])
        content[position] ^= 1
        #expect(checksum(of: content, pieces: [content.count]) != before)
    }

    @Test func theOrderOfChunksCounts() {
        let chunks = [Sample.noise(Sample.mebibyte, seed: 1), Sample.noise(Sample.mebibyte, seed: 2)]
        let forth = checksum(of: chunks[0] + chunks[1], pieces: [1 << 21])
        let back = checksum(of: chunks[1] + chunks[0], pieces: [1 << 21])
        #expect(forth != back)
    }

    private func checksum(of content: [UInt8], pieces sizes: [Int]) -> UInt64 {
        var checksum = ContentChecksum()
        content.withUnsafeBytes { bytes in
            var done = 0
            var turn = 0
            while done < bytes.count {
                let end = min(done + sizes[turn % sizes.count], bytes.count)
                checksum.update(UnsafeRawBufferPointer(rebasing: bytes[done..<end]))
                done = end
                turn += 1
            }
        }
        return checksum.finalize()
    }
}

/// An item of any length passes through a few chunks of memory.
@Suite struct BoundedMemoryTests {
    private static let length = 64 << 20

    @Test(arguments: [ItemEncoding.lz4, .identity], [1, 4])
    func noSingleCallIsLongerThanTheChunksAtWork(encoding: ItemEncoding, parallelism: Int) throws {
        let bound = parallelism * Sample.mebibyte + (64 << 10)
        let piece = Sample.text(5 * Sample.mebibyte + 1)
        try withItemFile { file in
            let writer = try file.writer(.plain(), encoding: .forced(encoding), parallelism: parallelism)
            while writer.contentBytes < Int64(Self.length) {
                let count = min(piece.count, Self.length - Int(writer.contentBytes))
                try piece[..<count].withUnsafeBytes { try writer.append($0) }
            }
            _ = try writer.finish()

            let reader = try file.reader(parallelism: parallelism)
            var position = 0
            var isSame = true
            try reader.stream(0..<Int64(Self.length)) { bytes in
                #expect(bytes.count <= parallelism * Sample.mebibyte)
                // One byte of each chunk will do: contents are the business of other tests.
                isSame = isSame && bytes[0] == piece[position % piece.count]
                position += bytes.count
            }
            #expect(isSame)
            #expect(position == Self.length)

            for call in file.fileSystem.calls {
                switch call {
                case .read(_, let length), .write(_, let length): #expect(length <= bound)
                case .attributes: break
                }
            }
            #expect(file.fileSystem.calls.count > Self.length / bound)
        }
    }
}
